package access

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

const (
	// refreshBefore is how long before its expiry a token is renewed, unless it is valid for less
	// than three times as long.
	refreshBefore = time.Minute
	// refreshTimeout is the maximum duration of a renewal.
	refreshTimeout = 12 * time.Second
	// refreshAgainAfter is the time between two tries of a renewal.
	refreshAgainAfter = 5 * time.Second
)

// The errors of a Refresher.
var (
	// ErrIssuer is an issuer that did not renew a token, and may do it later.
	ErrIssuer = errors.New("the issuer of the token does not answer")
	// ErrRefreshRejected is an issuer that does not renew the token of this session any more.
	ErrRefreshRejected = errors.New("the issuer does not renew the token")
)

// Refresher returns a new token, and what renews that one: empty if it is the same as before.
type Refresher func(ctx context.Context, refresh string) (token, next string, err error)

// RefreshTokens sets what renews the tokens of sessions that an issuer has signed in.
func (g *Gate) RefreshTokens(issuer string, refresher Refresher) {
	g.issuer, g.refresher = issuer, refresher
}

// refreshDue returns when a token has to be renewed, or zero if it does not expire.
func refreshDue(token string) time.Time {
	issued, expires := claimsOf(token)
	if expires.IsZero() {
		return time.Time{}
	}
	before := refreshBefore
	if valid := expires.Sub(issued); !issued.IsZero() && valid < 3*before {
		before = valid / 3
	}
	return expires.Add(-before)
}

// refresh renews the token of a session if it expires soon, or if the API server has rejected it.
// One request does it; the others wait for it. The token must stay that of the same user, whose
// groups may change.
func (g *Gate) refresh(ctx context.Context, p Principal, rejected bool) (Principal, error) {
	due := refreshDue(p.Token)
	if p.Refresh == "" || g.refresher == nil || p.Issuer != g.issuer || due.IsZero() || !rejected && g.now().Before(due) {
		return p, nil
	}
	before := p.Token
	release, err := g.sessions.renewing(ctx, p.key)
	if err != nil {
		return p, err
	}
	defer release()
	var failed error
	open := false
	g.sessions.change(p.key, func(s *session) {
		open, p, failed = true, s.Principal, s.refreshFailed
		if !g.now().Before(s.refreshFailedAt.Add(refreshAgainAfter)) {
			failed = nil
		}
	})
	switch {
	case !open:
		return p, ErrUnauthenticated
	case p.Token != before, !rejected && g.now().Before(refreshDue(p.Token)):
		return p, nil // another request has renewed it
	case failed != nil:
		return g.unrefreshed(p, failed, rejected)
	}
	// A refresh token may be valid once: a client that disconnects must not lose the next one.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout)
	defer cancel()
	token, next, err := g.refresher(ctx, p.Refresh)
	switch {
	case errors.Is(err, ErrRefreshRejected):
		return p, errors.Join(ErrUnauthenticated, err)
	case err != nil:
		g.sessions.change(p.key, func(s *session) { s.refreshFailed, s.refreshFailedAt = err, g.now() })
		return g.unrefreshed(p, err, rejected)
	}
	if p.Token = token; next != "" {
		p.Refresh = next
	}
	return g.replace(ctx, p)
}

// unrefreshed admits a caller whose token is still valid.
func (g *Gate) unrefreshed(p Principal, err error, rejected bool) (Principal, error) {
	if _, expires := claimsOf(p.Token); !rejected && g.now().Before(expires) {
		return p, nil
	}
	return p, err
}

// replace stores the renewed token of a session after its review. While the API server is
// unreachable, the user stays as it was.
func (g *Gate) replace(ctx context.Context, p Principal) (Principal, error) {
	g.sessions.change(p.key, func(s *session) { s.Principal, s.reviewed, s.refreshFailed = p, time.Time{}, nil })
	g.sessions.save()
	return g.review(ctx, p)
}

// review lets the API server accept the token of a session again. It has to be that of the same
// user, whose groups may change. While the API server is unreachable, or does not decide, the
// session lasts.
func (g *Gate) review(ctx context.Context, p Principal) (Principal, error) {
	found, err := g.authenticate(ctx, p.Token)
	switch {
	case errors.Is(err, ErrUnreachable), errors.Is(err, ErrUndecided):
		return p, nil
	case err != nil:
		return p, err
	case found.err != nil, found.value.Name != p.User.Name, found.value.UID != p.User.UID:
		return p, ErrUnauthenticated
	}
	changed := !sameRights(p.User, found.value)
	p.User = found.value
	g.sessions.change(p.key, func(s *session) {
		s.User, s.reviewed = p.User, g.now()
		if changed {
			clear(s.allowed)
		}
	})
	if changed {
		g.forget(p.key)
		g.sessions.save()
	}
	return p, nil
}

// sameRights reports whether the API server decides the same about two states of a user.
func sameRights(a, b User) bool {
	return slices.Equal(slices.Sorted(slices.Values(a.Groups)), slices.Sorted(slices.Values(b.Groups))) &&
		maps.EqualFunc(a.Extra, b.Extra, slices.Equal)
}

// forget drops the answers about a caller.
func (g *Gate) forget(k key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.DeleteFunc(g.answers, func(q question, _ answer[bool]) bool { return q.key == k })
}
