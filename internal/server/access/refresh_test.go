package access_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/server/access"
)

// jwt is a token with claims that nobody has signed.
func jwt(number int, issued, expires time.Time) string {
	claims := fmt.Sprintf(`{"n":%d,"iat":%d,"exp":%d}`, number, issued.Unix(), expires.Unix())
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

// issuer renews tokens that are valid for ten minutes, each refresh token once.
type issuer struct {
	*bed
	mu     sync.Mutex
	issued int
	user   string
	err    error
}

func issuing(t *testing.T) (*issuer, string) {
	t.Helper()
	return issuingOn(t, newBed())
}

func issuingOn(t *testing.T, b *bed) (*issuer, string) {
	t.Helper()
	i := &issuer{bed: b, user: "kim"}
	i.RefreshTokens("issuer", i.renew)
	token, next := i.issue()
	p, err := i.Token(t.Context(), token, free)
	if err != nil {
		t.Fatal(err)
	}
	p.Refresh, p.Issuer = next, "issuer"
	secret, _, err := i.SignIn(p)
	if err != nil {
		t.Fatal(err)
	}
	return i, secret
}

func (i *issuer) issue() (token, next string) {
	i.issued++
	token = jwt(i.issued, i.now, i.now.Add(10*time.Minute))
	i.cluster.users[token] = i.user
	return token, fmt.Sprint("refresh-", i.issued)
}

func (i *issuer) renew(_ context.Context, refresh string) (token, next string, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.err != nil:
		return "", "", i.err
	case refresh != fmt.Sprint("refresh-", i.issued):
		return "", "", access.ErrRefreshRejected
	}
	token, next = i.issue()
	return token, next, nil
}

// pass lets time pass, and withdraws the tokens that have expired.
func (i *issuer) pass(d time.Duration) {
	i.now = i.now.Add(d)
	for n := range i.issued + 1 {
		for token := range i.cluster.users {
			if expires := i.now; token == jwt(n, expires.Add(-10*time.Minute), expires) {
				delete(i.cluster.users, token)
			}
		}
	}
}

func TestASessionOutlastsItsTokensAndEndsAfterEightHours(t *testing.T) {
	i, secret := issuing(t)
	for minute := range 8 * 60 {
		p, err := i.Session(t.Context(), secret)
		if err != nil || p.User.Name != "kim" {
			t.Fatalf("after %d minutes: %+v, %v", minute, p, err)
		}
		i.pass(time.Minute)
	}
	if i.issued < 48 || i.issued > 60 {
		t.Errorf("%d tokens were issued in 8 hours", i.issued)
	}
	if _, err := i.Session(t.Context(), secret); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("after 8 hours: %v", err)
	}
}

// A refresh token is valid once: requests at the same time must not use it twice.
func TestOneOfManyRequestsRenewsTheToken(t *testing.T) {
	i, secret := issuing(t)
	i.pass(9*time.Minute + 30*time.Second)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := i.Session(context.WithoutCancel(t.Context()), secret); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if i.issued != 2 {
		t.Errorf("%d tokens were issued", i.issued)
	}
}

// A browser that closes the page must not lose the refresh token that the issuer has just issued.
func TestARequestThatEndsDoesNotEndTheRenewal(t *testing.T) {
	i, secret := issuing(t)
	i.pass(9*time.Minute + 30*time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	renew := i.renew
	i.RefreshTokens("issuer", func(inner context.Context, refresh string) (string, string, error) {
		cancel()
		if inner.Err() != nil {
			t.Error("the renewal ended with its request")
		}
		return renew(inner, refresh)
	})
	_, _ = i.Session(ctx, secret)
	if _, err := i.Session(t.Context(), secret); err != nil || i.issued != 2 {
		t.Errorf("%v after %d tokens", err, i.issued)
	}
}

func TestARejectedRenewalEndsTheSession(t *testing.T) {
	for situation, change := range map[string]func(*issuer){
		"the issuer rejects it":     func(i *issuer) { i.err = access.ErrRefreshRejected },
		"it is of another user":     func(i *issuer) { i.user, i.cluster.allowed["lee"] = "lee", true },
		"the API server rejects it": func(i *issuer) { i.user = "" },
	} {
		t.Run(situation, func(t *testing.T) {
			i, secret := issuing(t)
			change(i)
			i.pass(9*time.Minute + 30*time.Second)
			for range 2 {
				if _, err := i.Session(t.Context(), secret); !errors.Is(err, access.ErrUnauthenticated) {
					t.Errorf("the session: %v", err)
				}
			}
		})
	}
}

// The issuer may run in the cluster, or be upgraded itself.
func TestASessionOutlastsAnOutageOfTheIssuer(t *testing.T) {
	i, secret := issuing(t)
	i.err = access.ErrIssuer
	i.pass(9*time.Minute + 30*time.Second)
	if _, err := i.Session(t.Context(), secret); err != nil {
		t.Errorf("while the token is valid: %v", err)
	}
	i.pass(time.Minute)
	for token := range i.cluster.users {
		delete(i.cluster.users, token) // the API server rejects expired tokens
	}
	if _, err := i.Session(t.Context(), secret); !errors.Is(err, access.ErrIssuer) {
		t.Errorf("the token has expired: %v", err)
	}
	i.cluster.down = true
	if _, err := i.Session(t.Context(), secret); err != nil {
		t.Errorf("while the API server is down, too: %v", err)
	}
	i.cluster.down, i.err = false, nil
	i.pass(6 * time.Second)
	if p, err := i.Session(t.Context(), secret); err != nil || p.User.Name != "kim" {
		t.Errorf("after the outage: %+v, %v", p, err)
	}
}

func TestARenewedTokenOutlastsTheServer(t *testing.T) {
	d := &disk{}
	first, _ := restarted(t, d)
	i, secret := issuingOn(t, first)
	i.pass(9*time.Minute + 30*time.Second)
	i.cluster.down = true
	if _, err := i.Session(t.Context(), secret); err != nil || i.issued != 2 {
		t.Fatalf("%v after %d tokens", err, i.issued)
	}
	next, failures := restarted(t, d)
	i.cluster.down = false
	next.now, *next.cluster = i.now, *i.cluster
	b := &issuer{bed: next, issued: 2, user: "kim"}
	next.RefreshTokens("issuer", b.renew)
	p, err := next.Session(t.Context(), secret)
	if err != nil || p.Refresh != "refresh-2" || *failures != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestChangedGroupsDecideAnewDuringAStream(t *testing.T) {
	i, secret := issuing(t)
	p, err := i.Session(t.Context(), secret)
	if err != nil || i.Allow(t.Context(), p, list) != nil {
		t.Fatal(err)
	}
	i.cluster.groups = []string{"leavers"}
	i.cluster.allowed["kim"] = false
	i.pass(9*time.Minute + 30*time.Second)
	if p, err = i.Repeat(t.Context(), p); err != nil || len(p.User.Groups) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	if err := i.Allow(t.Context(), p, list); err == nil {
		t.Error("the old groups decide")
	}
}
