package access

import (
	"context"
	"errors"
	"sync"
	"time"
)

// For how long an answer of the API server is used again.
const (
	allowFor = 30 * time.Second
	denyFor  = 5 * time.Second
	// maxAnswers bounds the cache. Beyond that, the API server is queried again.
	maxAnswers = 10_000
)

// reviewTimeout is the maximum duration of a review.
const reviewTimeout = 5 * time.Second

// The errors of a Gate.
var (
	// ErrUnauthenticated is a caller without valid credentials.
	ErrUnauthenticated = errors.New("the caller is not signed in")
	// ErrUnreachable is a question that only the API server could answer.
	ErrUnreachable = errors.New("the API server is unreachable")
	// ErrLimited is a caller who has made too many requests.
	ErrLimited = errors.New("too many requests")
)

// ForbiddenError is a caller without a permission.
type ForbiddenError struct {
	User    string
	Missing Attributes
}

// Error implements error.
func (e *ForbiddenError) Error() string { return e.User + " may not " + e.Missing.String() }

// Gate admits callers.
type Gate struct {
	reviewer    Reviewer
	now         func() time.Time
	unreachable func(error) bool // whether an error means that the API server did not answer
	sessions    *sessions
	refresher   Refresher // nil: tokens are not renewed
	issuer      string    // whose refresh tokens the refresher takes

	mu      sync.Mutex
	users   map[key]answer[User]
	answers map[question]answer[bool]
}

type question struct {
	key key
	Attributes
}

// answer is an answer of the API server, and until when it is used.
type answer[T any] struct {
	value T
	err   error
	until time.Time
}

// NewGate returns a gate. unreachable reports whether an error of the reviewer means that the API
// server did not answer.
func NewGate(reviewer Reviewer, now func() time.Time, unreachable func(error) bool) *Gate {
	return &Gate{
		reviewer: reviewer, now: now, unreachable: unreachable, sessions: newSessions(now),
		users: map[key]answer[User]{}, answers: map[question]answer[bool]{},
	}
}

// KeepSessions keeps the sessions of tokens in a store, and opens those that it has. failed is
// called with errors that end no request.
func (g *Gate) KeepSessions(store Store, failed func(error)) error {
	g.sessions.store, g.sessions.failed = store, failed
	return g.sessions.load()
}

// Token admits the caller with a bearer token. limit is called before the API server is queried.
func (g *Gate) Token(ctx context.Context, token string, limit func() error) (Principal, error) {
	p := Principal{Token: token, key: keyOf(token), Expires: expiryOf(token)}
	g.mu.Lock()
	cached, found := g.users[p.key]
	g.mu.Unlock()
	if !found || !g.now().Before(cached.until) {
		if err := limit(); err != nil {
			return Principal{}, err
		}
		var err error
		if cached, err = g.authenticate(ctx, token); err != nil {
			return Principal{}, err
		}
		g.mu.Lock()
		makeRoom(g.users, g.now())
		g.users[p.key] = cached
		g.mu.Unlock()
	}
	p.User = cached.value
	return p, cached.err
}

// authenticate reviews a token. The error is that of a review without an answer; a rejection is an
// answer.
func (g *Gate) authenticate(ctx context.Context, token string) (answer[User], error) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	user, err := g.reviewer.Authenticate(ctx, token)
	switch {
	case err == nil:
		return answer[User]{value: user, until: g.now().Add(allowFor)}, nil
	case errors.Is(err, ErrRejected):
		return answer[User]{err: ErrUnauthenticated, until: g.now().Add(denyFor)}, nil
	case errors.Is(err, ErrUndecided):
		return answer[User]{}, err
	}
	return answer[User]{}, g.failed(err)
}

func (g *Gate) failed(err error) error {
	if g.unreachable(err) {
		return errors.Join(ErrUnreachable, err)
	}
	return err
}

// makeRoom drops old answers once there are too many.
func makeRoom[K comparable, T any](cache map[K]answer[T], now time.Time) {
	if len(cache) < maxAnswers {
		return
	}
	for k, a := range cache {
		if !now.Before(a.until) {
			delete(cache, k)
		}
	}
	if len(cache) >= maxAnswers {
		clear(cache)
	}
}

// SignIn starts a session for an admitted caller, and returns the secret of its cookie.
func (g *Gate) SignIn(p Principal) (secret string, started Principal, err error) {
	secret, started, err = g.sessions.start(p)
	if err == nil {
		g.sessions.save()
	}
	return secret, started, err
}

// SignInSelf starts a session that acts with the credentials of the server. Its user is unknown if
// the API server is unreachable.
func (g *Gate) SignInSelf(ctx context.Context) (secret string, started Principal, err error) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	user, err := g.reviewer.Self(ctx)
	if err != nil {
		user = User{Name: "kubeconfig"}
	}
	return g.sessions.start(Principal{User: user, Own: true})
}

// SignOut ends the session of a caller, if it has one.
func (g *Gate) SignOut(p Principal) {
	if p.Session {
		g.sessions.end(p.key)
		g.sessions.save()
	}
}

// Session admits the caller with the cookie of a session. The API server has to accept its token
// again from time to time; while it is unreachable, the session lasts.
func (g *Gate) Session(ctx context.Context, secret string) (Principal, error) {
	p, reviewed, found := g.sessions.find(secret)
	if !found {
		return Principal{}, ErrUnauthenticated
	}
	return g.renew(ctx, p, reviewed)
}

func (g *Gate) renew(ctx context.Context, p Principal, reviewed time.Time) (Principal, error) {
	if p.Own {
		return p, nil
	}
	before := p.Token
	p, unrenewed := g.refresh(ctx, p, false)
	switch {
	case errors.Is(unrenewed, ErrUnauthenticated):
		g.SignOut(p)
		return p, unrenewed
	case unrenewed != nil && ctx.Err() != nil:
		return p, unrenewed
	case p.Token != before:
		return p, unrenewed // refresh has reviewed a new token
	case unrenewed == nil && g.now().Before(reviewed.Add(allowFor)):
		return p, nil
	}
	p, err := g.review(ctx, p)
	switch {
	case errors.Is(err, ErrUnauthenticated) && unrenewed != nil:
		return p, unrenewed // the issuer may renew it later: the session lasts
	case errors.Is(err, ErrUnauthenticated):
		return g.rejected(ctx, p)
	}
	return p, err
}

// rejected renews a token that the API server rejects: its clock may be ahead of that of this host,
// so that the token has expired there. Without a new token, the session ends.
func (g *Gate) rejected(ctx context.Context, p Principal) (Principal, error) {
	renewed, err := g.refresh(ctx, p, true)
	switch {
	case err == nil && renewed.Token != p.Token:
		return renewed, nil
	case err == nil:
		err = ErrUnauthenticated
	}
	if errors.Is(err, ErrUnauthenticated) {
		g.SignOut(p)
	}
	return p, err
}

// Repeat admits a caller again, during a stream of events. The groups of the user may have changed.
func (g *Gate) Repeat(ctx context.Context, p Principal) (Principal, error) {
	if !p.Expires.IsZero() && !g.now().Before(p.Expires) {
		return p, ErrUnauthenticated
	}
	if !p.Session {
		return g.Token(ctx, p.Token, func() error { return nil })
	}
	open, reviewed := false, time.Time{}
	g.sessions.change(p.key, func(s *session) { open, p, reviewed = true, s.Principal, s.reviewed })
	if !open {
		return p, ErrUnauthenticated
	}
	return g.renew(ctx, p, reviewed)
}

// Allow returns an error unless a caller has all of these permissions.
func (g *Gate) Allow(ctx context.Context, p Principal, needs ...Attributes) error {
	for _, a := range needs {
		allowed, err := g.allowed(ctx, p, a)
		if err != nil {
			return err
		}
		if !allowed {
			return &ForbiddenError{User: p.User.Name, Missing: a}
		}
	}
	return nil
}

func (g *Gate) allowed(ctx context.Context, p Principal, a Attributes) (bool, error) {
	q := question{p.key, a}
	g.mu.Lock()
	cached, found := g.answers[q]
	g.mu.Unlock()
	if found && g.now().Before(cached.until) {
		return cached.value, nil
	}
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	var allowed bool
	var err error
	if p.Own {
		allowed, err = g.reviewer.SelfAllowed(ctx, a)
	} else {
		allowed, err = g.reviewer.Allowed(ctx, p.User, a)
	}
	if err != nil {
		return g.admitted(p, a, g.failed(err))
	}
	cached = answer[bool]{value: allowed, until: g.now().Add(denyFor)}
	if allowed {
		cached.until = g.now().Add(allowFor)
	}
	g.mu.Lock()
	makeRoom(g.answers, g.now())
	g.answers[q] = cached
	g.mu.Unlock()
	news := false
	g.sessions.change(p.key, func(s *session) {
		before, known := s.allowed[a]
		news = !known || before != allowed
		s.allowed[a] = allowed
	})
	if news {
		g.sessions.save()
	}
	return allowed, nil
}

// admitted returns the last answer about a session while the API server is unreachable. A session
// with the credentials of the server may read what the server has read with them.
func (g *Gate) admitted(p Principal, a Attributes, err error) (allowed bool, _ error) {
	if !errors.Is(err, ErrUnreachable) || !p.Session {
		return false, err
	}
	known := false
	g.sessions.change(p.key, func(s *session) {
		allowed, known = s.allowed[a]
		if !known && p.Own {
			allowed, known = true, true
		}
	})
	if !known {
		return false, err
	}
	return allowed, nil
}
