package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/server/access"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/server/protect"
)

// CreateSession starts a session. Failures look the same, whatever was wrong.
func (s *Server) CreateSession(ctx context.Context, request api.CreateSessionRequestObject) (api.CreateSessionResponseObject, error) {
	if err := s.limit(s.signIns, protect.Client(ctx)); err != nil {
		return nil, err
	}
	secret, p, err := s.signIn(ctx, request.Body)
	switch {
	case errors.Is(err, access.ErrTooManySessions):
		return nil, problem.New(http.StatusTooManyRequests, problem.RateLimited, "The server has too many sessions.").
			With("Sign out elsewhere, or restart the server")
	case err != nil:
		return nil, err
	}
	me, err := s.me(ctx, p)
	c := callerOf(ctx)
	c.Principal, c.detail = p, string(me.Method)
	left := p.Expires.Sub(s.options.Cluster.Now())
	return &signedIn{CreateSession201JSONResponse: api.CreateSession201JSONResponse(me), secret: secret, maxAge: int(left.Seconds())}, err
}

func (s *Server) signIn(ctx context.Context, credentials *api.SignIn) (secret string, p access.Principal, err error) {
	switch {
	case credentials == nil || (credentials.Code == "") == (credentials.Token == ""):
		return "", p, problem.New(http.StatusBadRequest, problem.BadRequest, "Set either the code or the token.")
	case credentials.Token != "":
		p, err := s.gate.Token(ctx, credentials.Token, func() error { return nil })
		if err != nil {
			return "", p, err
		}
		return s.gate.SignIn(p)
	case !s.options.OneTimeCodes || !s.codes.Redeem(credentials.Code):
		return "", p, access.ErrUnauthenticated
	}
	return s.gate.SignInSelf(ctx)
}

// signedIn sets the cookie of a session.
type signedIn struct {
	api.CreateSession201JSONResponse
	secret string
	maxAge int
}

// VisitCreateSessionResponse implements the response.
func (r *signedIn) VisitCreateSessionResponse(w http.ResponseWriter) error {
	http.SetCookie(w, cookie(r.secret, r.maxAge))
	return r.CreateSession201JSONResponse.VisitCreateSessionResponse(w)
}

func cookie(secret string, maxAge int) *http.Cookie {
	return &http.Cookie{Name: cookieName, Value: secret, Path: "/", MaxAge: maxAge, Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// DeleteSession ends the session of the caller.
func (s *Server) DeleteSession(ctx context.Context, _ api.DeleteSessionRequestObject) (api.DeleteSessionResponseObject, error) {
	s.gate.SignOut(callerOf(ctx).Principal)
	return signedOut{}, nil
}

// signedOut removes the cookie of a session.
type signedOut struct{}

// VisitDeleteSessionResponse implements the response.
func (signedOut) VisitDeleteSessionResponse(w http.ResponseWriter) error {
	http.SetCookie(w, cookie("", -1))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// GetMe answers with the caller and what the caller may do.
func (s *Server) GetMe(ctx context.Context, _ api.GetMeRequestObject) (api.GetMeResponseObject, error) {
	me, err := s.me(ctx, callerOf(ctx).Principal)
	return api.GetMe200JSONResponse(me), err
}

func (s *Server) me(ctx context.Context, p access.Principal) (api.Me, error) {
	out := api.Me{User: p.User.Name, Groups: p.User.Groups, Method: api.Token, Permissions: []api.Permission{}}
	switch {
	case p.Own:
		out.Method = api.Code
	case p.Session:
		out.Method = api.Session
	}
	if !p.Expires.IsZero() {
		out.Expires = p.Expires.UTC()
	}
	for id, needed := range permissions {
		allowed := api.Permission{Operation: id, Allowed: true}
		if err := s.gate.Allow(ctx, p, needed.needs...); err != nil {
			missing, is := errors.AsType[*access.ForbiddenError](err)
			if !is && !errors.Is(err, access.ErrUnreachable) {
				return out, err
			}
			if allowed.Allowed = false; is {
				allowed.Missing = missing.Missing.String()
			}
		}
		out.Permissions = append(out.Permissions, allowed)
	}
	slices.SortFunc(out.Permissions, func(a, b api.Permission) int { return strings.Compare(a.Operation, b.Operation) })
	return out, nil
}

// ListAudit lists the last entries of the audit log.
func (s *Server) ListAudit(_ context.Context, request api.ListAuditRequestObject) (api.ListAuditResponseObject, error) {
	limit := request.Params.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	if limit < 1 || limit > maxLimit {
		return nil, invalid("#/limit", "must be between 1 and 1000")
	}
	entries, broken, err := s.audit.Last(limit)
	if err != nil {
		return nil, err
	}
	out := api.ListAudit200JSONResponse{Verified: broken == nil, Entries: []api.AuditEntry{}}
	if broken != nil {
		out.Problem = broken.Error()
	}
	for _, e := range entries {
		out.Entries = append(out.Entries, api.AuditEntry{
			Time: e.Time, Sequence: e.Sequence, RequestID: e.RequestID, User: e.User, Remote: e.Remote, Action: e.Action,
			Object: e.Object, Result: e.Result, Detail: e.Detail, Hash: e.Hash,
		})
	}
	return out, nil
}
