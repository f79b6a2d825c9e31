package access

import (
	"context"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"
)

const (
	sessionBits = 256
	// sessionValidFor is the longest a session lasts.
	sessionValidFor = 8 * time.Hour
	maxSessions     = 1000
	// maxSessionsOfUser is the maximum of one user. The next one ends the oldest: a user must not
	// keep all others out.
	maxSessionsOfUser = 50
)

// ErrTooManySessions is returned if there are as many sessions as the server keeps.
var ErrTooManySessions = errors.New("there are too many sessions")

// sessions are the sessions of the server. Those that a token started outlast it if it has a
// Store.
type sessions struct {
	now   func() time.Time
	store Store
	// failed is called if the sessions cannot be stored: they end with the server.
	failed func(error)

	mu     sync.Mutex
	open   map[key]*session
	closed map[string]Sealed // those of an earlier server that nobody has used since

	saving sync.Mutex
}

// session is a session. The lock of the sessions guards it.
type session struct {
	Principal
	started  time.Time           // zero if an earlier server has started it
	reviewed time.Time           // when the API server has last accepted the token
	allowed  map[Attributes]bool // the last answers of the API server
	seal     cipher.AEAD
	// renewing is held by the request that renews the token, which failed last at refreshFailedAt.
	renewing        chan struct{}
	refreshFailed   error
	refreshFailedAt time.Time
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, open: map[key]*session{}}
}

// start starts a session and returns the secret of its cookie.
func (s *sessions) start(p Principal) (secret string, started Principal, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.expire(now)
	s.makeRoom(p.User.Name)
	if len(s.open)+len(s.closed) >= maxSessions {
		return "", Principal{}, ErrTooManySessions
	}
	secret = newSecret(sessionBits)
	p.key, p.Session, p.Expires = keyOf(secret), true, now.Add(sessionValidFor)
	if expires := expiryOf(p.Token); !expires.IsZero() && expires.Before(p.Expires) && p.Refresh == "" {
		p.Expires = expires
	}
	s.open[p.key] = &session{Principal: p, started: now, reviewed: now, allowed: map[Attributes]bool{}, seal: sealOf(secret), renewing: make(chan struct{}, 1)}
	return secret, p, nil
}

// makeRoom ends the oldest session of a user who has as many as one may have. The caller holds the
// lock.
func (s *sessions) makeRoom(user string) {
	var oldest *session
	n := 0
	for _, is := range s.open {
		if is.User.Name != user {
			continue
		}
		if n++; oldest == nil || is.started.Before(oldest.started) {
			oldest = is
		}
	}
	if n >= maxSessionsOfUser {
		delete(s.open, oldest.key)
	}
}

// expire forgets the sessions that have expired. The caller holds the lock.
func (s *sessions) expire(now time.Time) {
	maps.DeleteFunc(s.open, func(_ key, is *session) bool { return !now.Before(is.Expires) })
	maps.DeleteFunc(s.closed, func(_ string, is Sealed) bool { return !now.Before(is.Expires) })
}

// find returns the session of a cookie, and when its token was last accepted.
func (s *sessions) find(secret string) (p Principal, reviewed time.Time, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := s.open[keyOf(secret)]
	if is == nil {
		is = s.reopen(secret)
	}
	if is == nil || !s.now().Before(is.Expires) {
		return Principal{}, time.Time{}, false
	}
	return is.Principal, is.reviewed, true
}

// reopen opens a session that an earlier server has started, and returns nil if there is none. The
// caller holds the lock.
func (s *sessions) reopen(secret string) *session {
	k := keyOf(secret)
	from, found := s.closed[k.name()]
	if !found {
		return nil
	}
	delete(s.closed, k.name())
	is, err := unseal(secret, from)
	if err != nil {
		s.failed(err)
		return nil
	}
	s.open[k] = is
	return is
}

// change calls a function with a session that is still open.
func (s *sessions) change(k key, do func(*session)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is := s.open[k]; is != nil {
		do(is)
	}
}

// renewing waits until no other request renews the token of a session.
func (s *sessions) renewing(ctx context.Context, k key) (release func(), err error) {
	var held chan struct{}
	s.change(k, func(is *session) { held = is.renewing })
	if held == nil {
		return nil, ErrUnauthenticated
	}
	select {
	case held <- struct{}{}:
		return func() { <-held }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// end ends a session.
func (s *sessions) end(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, k)
	delete(s.closed, k.name())
}

// load reads the sessions of an earlier server.
func (s *sessions) load() error {
	if s.store == nil {
		return nil
	}
	found, err := s.store.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = found
	s.expire(s.now())
	return err
}

// save stores the sessions. One with the credentials of the server is not stored: the next server
// may have those of another person.
func (s *sessions) save() {
	if s.store == nil {
		return
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	if err := s.saveAll(); err != nil {
		s.failed(err)
	}
}

func (s *sessions) saveAll() error {
	s.mu.Lock()
	s.expire(s.now())
	all := maps.Clone(s.closed)
	if all == nil {
		all = map[string]Sealed{}
	}
	var errs []error
	for k, is := range s.open {
		if is.Own {
			continue
		}
		sealed, err := is.sealed()
		all[k.name()], errs = sealed, append(errs, err)
	}
	s.mu.Unlock()
	return errors.Join(append(errs, s.store.Save(all))...)
}

// expiryOf returns when a token expires by its own claim, or zero. The claim is not verified: it
// only shortens a session.
func expiryOf(token string) time.Time {
	_, expires := claimsOf(token)
	return expires
}

// claimsOf returns when a token was issued and when it expires by its own claims, or zero. They are
// not verified.
func claimsOf(token string) (issued, expires time.Time) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return issued, expires
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return issued, expires
	}
	var claims struct {
		Iat float64 `json:"iat"`
		Exp float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return issued, expires
	}
	return moment(claims.Iat), moment(claims.Exp)
}

func moment(claim float64) time.Time {
	if claim <= 0 {
		return time.Time{}
	}
	return time.Unix(int64(claim), 0)
}
