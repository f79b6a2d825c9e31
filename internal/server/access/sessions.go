package access

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
)

const (
	sessionBits = 256
	// sessionValidFor is the longest a session lasts.
	sessionValidFor = 8 * time.Hour
	maxSessions     = 1000
)

// ErrTooManySessions is returned if there are as many sessions as the server keeps.
var ErrTooManySessions = errors.New("there are too many sessions")

// sessions are the sessions of the server. They end with it.
type sessions struct {
	now func() time.Time

	mu   sync.Mutex
	open map[key]*session
}

// session is a session. Its Principal does not change; the lock of the sessions guards the rest.
type session struct {
	Principal
	reviewed time.Time           // when the API server has last accepted the token
	allowed  map[Attributes]bool // the last answers of the API server
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, open: map[key]*session{}}
}

// start starts a session and returns the secret of its cookie.
func (s *sessions) start(p Principal) (secret string, started Principal, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for id, is := range s.open {
		if !now.Before(is.Expires) {
			delete(s.open, id)
		}
	}
	if len(s.open) >= maxSessions {
		return "", Principal{}, ErrTooManySessions
	}
	secret = newSecret(sessionBits)
	p.key, p.Session, p.Expires = keyOf(secret), true, now.Add(sessionValidFor)
	if expires := expiryOf(p.Token); !expires.IsZero() && expires.Before(p.Expires) {
		p.Expires = expires
	}
	s.open[p.key] = &session{Principal: p, reviewed: now, allowed: map[Attributes]bool{}}
	return secret, p, nil
}

// find returns the session of a cookie, and when its token was last accepted.
func (s *sessions) find(secret string) (p Principal, reviewed time.Time, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := s.open[keyOf(secret)]
	if is == nil || !s.now().Before(is.Expires) {
		return Principal{}, time.Time{}, false
	}
	return is.Principal, is.reviewed, true
}

// change calls a function with a session that is still open.
func (s *sessions) change(k key, do func(*session)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is := s.open[k]; is != nil {
		do(is)
	}
}

// end ends a session.
func (s *sessions) end(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, k)
}

// expiryOf returns when a token expires by its own claim, or zero. The claim is not verified: it
// only shortens a session.
func expiryOf(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Exp float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Exp <= 0 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Exp), 0)
}
