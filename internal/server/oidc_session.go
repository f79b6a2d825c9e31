package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/server/access"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/oidc"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/server/protect"
)

const (
	callbackPath = "/api/v1alpha1/session/callback"
	signInPage   = "/sign-in"
	// signInCookie binds a sign-in at the issuer to the browser in which it started. The issuer
	// sends the browser back, so it cannot be SameSite=Strict.
	signInCookie = "__Host-refit-sign-in"
)

// useIssuer lets people sign in at an issuer, and renews the tokens of their sessions.
func (s *Server) useIssuer(options oidc.Options) error {
	if !options.Enabled() {
		return nil
	}
	provider, err := oidc.New(options, s.options.Cluster.Now)
	if err != nil {
		return err
	}
	s.issuer, s.flows = provider.Issuer(), oidc.NewFlows(provider, s.options.Cluster.Now)
	s.gate.RefreshTokens(nameOf(options), func(ctx context.Context, refresh string) (token, next string, err error) {
		tokens, err := provider.Refresh(ctx, refresh)
		switch {
		case errors.Is(err, oidc.ErrRejected):
			return "", "", errors.Join(access.ErrRefreshRejected, err)
		case err != nil:
			s.log.Warn("cannot renew the token of a session", "error", err)
			return "", "", errors.Join(access.ErrIssuer, err)
		}
		return tokens.ID, tokens.Refresh, nil
	})
	return nil
}

// nameOf names an issuer and its client: their refresh tokens are for nobody else.
func nameOf(o oidc.Options) string { return o.Issuer + " " + o.ClientID }

// GetSignIn answers with the ways to sign in.
func (s *Server) GetSignIn(context.Context, api.GetSignInRequestObject) (api.GetSignInResponseObject, error) {
	return api.GetSignIn200JSONResponse{Code: s.options.OneTimeCodes, Issuer: s.issuer}, nil
}

// StartOIDC sends a browser to the issuer.
func (s *Server) StartOIDC(ctx context.Context, r api.StartOIDCRequestObject) (api.StartOIDCResponseObject, error) {
	if s.flows == nil {
		return nil, noIssuer()
	}
	target := localPath(r.Params.From)
	if err := s.limit(s.signIns, "issuer "+protect.Client(ctx)); err != nil {
		return s.refused(ctx, target, err), nil
	}
	to, browser, err := s.flows.Start(ctx, "https://"+protect.Host(ctx)+callbackPath, target)
	if err != nil {
		return s.refused(ctx, target, err), nil
	}
	return redirect{to: to, cookies: []*http.Cookie{browserCookie(browser, int(oidc.FlowValidFor.Seconds()))}}, nil
}

// FinishOIDC starts the session of a browser that the issuer has sent back.
func (s *Server) FinishOIDC(ctx context.Context, r api.FinishOIDCRequestObject) (api.FinishOIDCResponseObject, error) {
	if s.flows == nil {
		return nil, noIssuer()
	}
	if err := s.limit(s.signIns, protect.Client(ctx)); err != nil {
		return s.refused(ctx, "/", err), nil
	}
	tokens, target, err := s.flows.Finish(ctx, oidc.Answer{State: r.Params.State, Browser: r.Params.Browser, Code: r.Params.Code, Error: r.Params.Error})
	if err != nil {
		return s.refused(ctx, target, err), nil
	}
	p, err := s.gate.Token(ctx, tokens.ID, func() error { return nil })
	if err != nil {
		return s.refused(ctx, target, err), nil
	}
	p.Refresh, p.Issuer = tokens.Refresh, nameOf(s.options.Issuer)
	secret, p, err := s.gate.SignIn(p)
	if err != nil {
		return s.refused(ctx, target, err), nil
	}
	c := callerOf(ctx)
	c.Principal, c.detail = p, string(api.Session)
	left := p.Expires.Sub(s.options.Cluster.Now())
	return redirect{to: target, cookies: []*http.Cookie{cookie(secret, int(left.Seconds())), browserCookie("", -1)}}, nil
}

func noIssuer() error {
	return problem.New(http.StatusNotFound, problem.NotFound, "The server has no OpenID Connect issuer.").
		With("Start it with --oidc-issuer-url and --oidc-client-id, or sign in with a token")
}

// issuerFailed is the problem of an issuer that does not answer.
func issuerFailed() *problem.Error {
	return problem.New(http.StatusBadGateway, problem.IssuerFailed, "The OpenID Connect issuer does not answer.").
		With("Try again, or sign in with a token. The log of the server has the cause")
}

// undecided is the problem of an API server that cannot review the tokens of the issuer yet.
func undecided() *problem.Error {
	return problem.New(http.StatusServiceUnavailable, problem.IssuerFailed, "The API server has not read the keys of the OpenID Connect issuer yet.").
		With("Try again in a few seconds. The log of kube-apiserver has the cause if it lasts").After(undecidedRetry)
}

// undecidedRetry is half of the time between two queries of kube-apiserver for the keys.
const undecidedRetry = 5 * time.Second

// refused sends a browser to the sign-in page with the code of a problem, and keeps the problem for
// the audit log. The page has the text: nobody can put theirs into a link.
func (s *Server) refused(ctx context.Context, target string, err error) redirect {
	var p *problem.Error
	switch {
	case errors.Is(err, oidc.ErrNoFlow):
		p = problem.New(http.StatusBadRequest, problem.SignInExpired, "The sign-in did not start in this browser, or it took too long.")
	case errors.Is(err, oidc.ErrRejected):
		s.log.Warn("a sign-in failed", "requestId", problem.RequestID(ctx), "error", err)
		p = problem.New(http.StatusForbidden, problem.SignInRejected, "The issuer rejected the sign-in.")
	case errors.Is(err, oidc.ErrIssuer):
		s.log.Warn("a sign-in failed", "requestId", problem.RequestID(ctx), "error", err)
		p = issuerFailed()
	case errors.Is(err, oidc.ErrTooMany), errors.Is(err, access.ErrTooManySessions):
		p = problem.New(http.StatusTooManyRequests, problem.RateLimited, "There are too many sign-ins or sessions.")
	default:
		p = s.problemOf(err)
	}
	callerOf(ctx).refused = p
	query := url.Values{"failed": {p.Code}, "from": {localPath(target)}}
	return redirect{to: signInPage + "?" + query.Encode(), cookies: []*http.Cookie{browserCookie("", -1)}}
}

// localPath returns the path of a page of this server: a sign-in redirects to no other place.
func localPath(from string) string {
	at, err := url.Parse(from)
	if err != nil || at.IsAbs() || at.Host != "" || !strings.HasPrefix(from, "/") || strings.HasPrefix(from, "//") || strings.ContainsAny(from, "\\\r\n\t") {
		return "/"
	}
	return from
}

func browserCookie(secret string, maxAge int) *http.Cookie {
	return &http.Cookie{Name: signInCookie, Value: secret, Path: "/", MaxAge: maxAge, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// redirect sends a browser elsewhere, with cookies.
type redirect struct {
	to      string
	cookies []*http.Cookie
}

func (r redirect) visit(w http.ResponseWriter) error {
	for _, c := range r.cookies {
		http.SetCookie(w, c)
	}
	w.Header().Set("Location", r.to)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// VisitStartOIDCResponse implements the response.
func (r redirect) VisitStartOIDCResponse(w http.ResponseWriter) error { return r.visit(w) }

// VisitFinishOIDCResponse implements the response.
func (r redirect) VisitFinishOIDCResponse(w http.ResponseWriter) error { return r.visit(w) }
