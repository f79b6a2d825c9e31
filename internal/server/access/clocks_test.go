package access_test

import (
	"errors"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/server/access"
)

// expireEarly lets the API server reject the tokens issued so far: its clock is ahead.
func (i *issuer) expireEarly() {
	clear(i.cluster.users)
	i.now = i.now.Add(31 * time.Second)
}

func TestATokenThatExpiresEarlierForTheAPIServerIsRenewed(t *testing.T) {
	i, secret := issuing(t)
	for round := range 3 {
		i.expireEarly()
		if p, err := i.Session(t.Context(), secret); err != nil || p.Refresh == "" || i.issued != round+2 {
			t.Fatalf("round %d: %+v, %v after %d tokens", round, p, err, i.issued)
		}
	}
	i.expireEarly()
	i.err = access.ErrIssuer
	if _, err := i.Session(t.Context(), secret); !errors.Is(err, access.ErrIssuer) {
		t.Errorf("the issuer is down: %v", err)
	}
	i.err = nil
	i.now = i.now.Add(6 * time.Second)
	if _, err := i.Session(t.Context(), secret); err != nil {
		t.Errorf("after its outage: %v", err)
	}
	i.expireEarly()
	i.user = ""
	for range 2 {
		if _, err := i.Session(t.Context(), secret); !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("a user whom the API server rejects: %v", err)
		}
	}
}

// The refresh token of an issuer is a credential for that issuer. A server that starts with another
// one must not send it there.
func TestARefreshTokenIsSentToItsIssuerAlone(t *testing.T) {
	d := &disk{}
	first, _ := restarted(t, d)
	i, secret := issuingOn(t, first)
	next, _ := restarted(t, d)
	next.now, *next.cluster = i.now.Add(9*time.Minute+30*time.Second), *i.cluster
	b := &issuer{bed: next, issued: 1, user: "kim"}
	next.RefreshTokens("another issuer", b.renew)
	if _, err := next.Session(t.Context(), secret); err != nil || b.issued != 1 {
		t.Errorf("%v after %d tokens", err, b.issued)
	}
}
