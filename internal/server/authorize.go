package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/access"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/audit"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/server/protect"
)

const (
	requestsPerSecond = 20
	requestsAtOnce    = 60
	signInsPerMinute  = 5

	// reviewInterval is the time between two reviews of a caller who follows events or waits.
	reviewInterval = time.Minute
)

// cookieName is bound to this host, to TLS and to all paths by its prefix.
const cookieName = "__Host-refit"

// caller is who sent a request, and the route.
type caller struct {
	access.Principal
	permission permission
	object     string // for the audit log, if the path does not name it
	detail     string // for the audit log
	refused    error  // why a browser was sent to the sign-in page; for the audit log
}

type callerKey struct{}

// callerOf returns who sent a request. Only public routes have none.
func callerOf(ctx context.Context) *caller {
	c, _ := ctx.Value(callerKey{}).(*caller)
	if c == nil {
		c = &caller{}
	}
	return c
}

// authorize admits a caller to a route, or refuses the request.
func (s *Server) authorize(next api.StrictHandlerFunc, operationID string) api.StrictHandlerFunc {
	return func(ctx context.Context, w http.ResponseWriter, r *http.Request, request any) (any, error) {
		needed, found := permissions[operationID]
		if !found {
			return nil, problem.New(http.StatusForbidden, problem.Forbidden, "The route has no permission.")
		}
		c := &caller{permission: needed}
		ctx = context.WithValue(ctx, callerKey{}, c)
		answer, err := s.handle(ctx, c, w, r, request, next)
		if err != nil && c.User.Name == "" {
			err = s.toNobody(err)
		}
		if failed := cmp.Or(err, c.refused); needed.recorded(c, failed) {
			if logged := s.record(ctx, c, operationID, cmp.Or(r.PathValue("name"), c.object), failed); logged != nil {
				return nil, logged
			}
		}
		return answer, err
	}
}

// toNobody returns the error for a caller who is not known: an outage without its reason, which
// names hosts.
func (s *Server) toNobody(err error) error {
	p := s.problemOf(err)
	if p.Code != problem.APIUnreachable {
		return err
	}
	out := problem.New(http.StatusServiceUnavailable, problem.APIUnreachable, "The API server is unreachable, and only it can review a token.").
		With("Retry once the API server is reachable").After(p.RetryAfter)
	out.Since = p.Since
	return out
}

// recorded reports whether a request is in the audit log. Requests without a user and those beyond
// the limits are not, except for sign-ins: anybody could fill the log with them. Nor is a way to
// sign in that the server does not have.
func (p *permission) recorded(c *caller, err error) bool {
	if is, ok := errors.AsType[*problem.Error](err); ok && (is.Code == problem.RateLimited || p.public && is.Code == problem.NotFound) {
		return false
	}
	return (p.writes || p.audited) && (p.public || c.User.Name != "")
}

func (s *Server) handle(ctx context.Context, c *caller, w http.ResponseWriter, r *http.Request, request any, next api.StrictHandlerFunc) (any, error) {
	if err := s.admit(ctx, c, r); err != nil {
		return nil, err
	}
	if c.permission.writes {
		if err := s.writable(); err != nil {
			return nil, err
		}
	}
	return next(ctx, w, r, request)
}

// admit finds out who the caller is, and whether the caller has the permissions of the route.
func (s *Server) admit(ctx context.Context, c *caller, r *http.Request) error {
	if c.permission.public {
		return s.limitAddress(ctx)
	}
	var err error
	if c.Principal, err = s.authenticate(ctx, r); err != nil {
		return err
	}
	if err := s.limit(s.requests, "caller "+c.ID()); err != nil {
		return err
	}
	return s.gate.Allow(ctx, c.Principal, c.permission.needs...)
}

func (s *Server) authenticate(ctx context.Context, r *http.Request) (access.Principal, error) {
	if token, sent := bearer(r); sent {
		if token == "" {
			return access.Principal{}, access.ErrUnauthenticated
		}
		return s.gate.Token(ctx, token, func() error { return s.limitAddress(ctx) })
	}
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return access.Principal{}, access.ErrUnauthenticated
	}
	return s.gate.Session(ctx, cookie.Value)
}

// bearer returns the token of a request that has the header of credentials; empty if that has
// others.
func bearer(r *http.Request) (token string, sent bool) {
	header := r.Header.Get("Authorization")
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		token = ""
	}
	return token, header != ""
}

// limit counts a request of a client.
func (s *Server) limit(limits *protect.Limits, client string) error {
	if after, ok := limits.Allow(client, s.options.Cluster.Now()); !ok {
		return problem.New(http.StatusTooManyRequests, problem.RateLimited, "There are too many requests.").After(after)
	}
	return nil
}

// mayContinue repeats the review of a caller who follows events or waits.
func (s *Server) mayContinue(ctx context.Context) error {
	c := callerOf(ctx)
	p, err := s.gate.Repeat(ctx, c.Principal)
	if err != nil {
		return s.unlessUnreachable(err)
	}
	return s.unlessUnreachable(s.gate.Allow(ctx, p, c.permission.needs...))
}

// unlessUnreachable drops the error of a review without an answer: the caller stays, so it was
// admitted.
func (s *Server) unlessUnreachable(err error) error {
	if errors.Is(err, access.ErrUnreachable) {
		return nil
	}
	return err
}

// writable fails while the API server is unreachable. Writes are never queued.
func (s *Server) writable() (err error) {
	s.mirror.Read(func(c *operations.Copy) {
		if !c.API.UnreachableSince.IsZero() {
			err = s.unreachable(c)
		}
	})
	return err
}

// problemOf returns the problem of an error of the gate or of the API server.
func (s *Server) problemOf(err error) *problem.Error {
	if is, ok := errors.AsType[*problem.Error](err); ok {
		return is
	}
	if missing, ok := errors.AsType[*access.ForbiddenError](err); ok {
		return problem.Newf(http.StatusForbidden, problem.Forbidden, "%s may not %s.", missing.User, missing.Missing).
			With("Ask an administrator for a role of Refit with this permission, such as the ClusterRole refit-viewer")
	}
	switch {
	case errors.Is(err, access.ErrUnauthenticated):
		return problem.New(http.StatusUnauthorized, problem.Unauthenticated, "The request has no valid credentials.").
			With("Sign in, or send a token that the API server accepts as a bearer token")
	case errors.Is(err, access.ErrOwnCredentials):
		return problem.New(http.StatusInternalServerError, problem.Internal, "The API server rejects the credentials of the server.").
			With(fmt.Sprintf("Renew the kubeconfig of `%s serve`, then restart it", s.documents.command))
	case errors.Is(err, access.ErrIssuer):
		return issuerFailed()
	case errors.Is(err, access.ErrUndecided):
		return undecided()
	case errors.Is(err, access.ErrUnreachable), operations.Unanswered(err) && isOfAPIServer(err):
		var out *problem.Error
		s.mirror.Read(func(c *operations.Copy) { out = s.unreachable(c) })
		return out
	case errors.Is(err, operations.ErrNotInstalled):
		return problem.Newf(http.StatusConflict, problem.NotInstalled, "Refit is not installed in %s.", s.documents.cluster).
			With(fmt.Sprintf("Run `%s install`", s.documents.command))
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "reviews."):
		return problem.New(http.StatusForbidden, problem.Forbidden, "The server may not review tokens and permissions of other users.").
			With("Sign in with the one-time code, or start the server with credentials that may create TokenReviews and SubjectAccessReviews")
	}
	return problem.Of(fromAPIServer(err))
}

// record writes the audit log. A request that cannot be recorded is not answered.
func (s *Server) record(ctx context.Context, c *caller, operationID, object string, err error) error {
	entry := audit.Entry{
		RequestID: problem.RequestID(ctx), User: c.User.Name, Remote: protect.Remote(ctx), Action: operationID,
		Object: object, Result: strconv.Itoa(http.StatusOK), Detail: c.detail,
	}
	if err != nil {
		p := s.problemOf(err)
		entry.Result, entry.Detail = strconv.Itoa(p.Status)+" "+p.Code, cmp.Or(c.detail, p.Detail)
	}
	if err := s.audit.Write(entry); err != nil {
		s.log.Error("cannot write the audit log", "requestId", entry.RequestID, "error", err)
		return problem.New(http.StatusInternalServerError, problem.Internal, "The server cannot write its audit log.").
			With("Free disk space in the directory of the server")
	}
	return nil
}
