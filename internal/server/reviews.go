package server

import (
	"context"
	"errors"

	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/access"
)

// reviews are the reviews of the API server. They fail at once while it is unreachable: a hung API
// server would delay each request and each stream by the timeouts of all its reviews.
type reviews struct {
	access.Reviews

	unreachable func() bool
}

var errUnreachable = errors.New("the API server did not respond to the last probe")

// Authenticate implements access.Reviewer.
func (r *reviews) Authenticate(ctx context.Context, token string) (access.User, error) {
	if r.unreachable() {
		return access.User{}, errUnreachable
	}
	return r.Reviews.Authenticate(ctx, token)
}

// Self implements access.Reviewer.
func (r *reviews) Self(ctx context.Context) (access.User, error) {
	if r.unreachable() {
		return access.User{}, errUnreachable
	}
	return r.Reviews.Self(ctx)
}

// Allowed implements access.Reviewer.
func (r *reviews) Allowed(ctx context.Context, user access.User, a access.Attributes) (bool, error) {
	if r.unreachable() {
		return false, errUnreachable
	}
	return r.Reviews.Allowed(ctx, user, a)
}

// SelfAllowed implements access.Reviewer.
func (r *reviews) SelfAllowed(ctx context.Context, a access.Attributes) (bool, error) {
	if r.unreachable() {
		return false, errUnreachable
	}
	return r.Reviews.SelfAllowed(ctx, a)
}

// isUnreachable reports whether the last probe of the API server failed.
func (s *Server) isUnreachable() (is bool) {
	s.mirror.Read(func(c *operations.Copy) { is = !c.API.UnreachableSince.IsZero() })
	return is
}
