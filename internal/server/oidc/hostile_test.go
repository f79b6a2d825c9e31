package oidc_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/server/oidc"
)

// A code, a refresh token and the secret of the client must not be sent without TLS. An issuer
// behind a proxy that ends TLS often publishes addresses with http.
func TestNothingIsSentToAnIssuerWithoutTLS(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request was sent without TLS") }))
	t.Cleanup(plain.Close)
	for _, name := range []string{"authorization_endpoint", "token_endpoint"} {
		b := newBed(t)
		b.Publish(name, plain.URL)
		if at, _, err := b.Start(t.Context(), redirect, "/"); !errors.Is(err, oidc.ErrIssuer) || !strings.Contains(err.Error(), "without TLS") {
			t.Errorf("%s: %q %v", name, at, err)
		}
	}
	for name, address := range map[string]string{"jwks_uri": plain.URL, "token_endpoint": redirectTo(t, plain.URL)} {
		b := newBed(t)
		b.Publish(name, address)
		state, secret, code := b.signIn(t)
		if _, _, err := b.Finish(t.Context(), oidc.Answer{State: state, Browser: secret, Code: code}); err == nil {
			t.Errorf("%s: the sign-in succeeded", name)
		}
	}
}

// redirectTo is an address with TLS that redirects with the body.
func redirectTo(t *testing.T, address string) string {
	t.Helper()
	s := httptest.NewTLSServer(http.RedirectHandler(address, http.StatusPermanentRedirect))
	t.Cleanup(s.Close)
	return s.URL
}

// A code or a refresh token that is sent twice looks stolen: some issuers end the session then.
func TestACodeIsSentOnceHoweverTheClientAuthenticates(t *testing.T) {
	for _, method := range []string{"client_secret_basic", "client_secret_post"} {
		b := newBed(t)
		b.Publish("token_endpoint_auth_methods_supported", []string{method})
		state, secret, code := b.signIn(t)
		tokens, _, err := b.Finish(t.Context(), oidc.Answer{State: state, Browser: secret, Code: code})
		if err != nil || b.Requests() != 1 {
			t.Errorf("%s: %v after %d requests", method, err, b.Requests())
		}
		if _, err := b.provider.Refresh(t.Context(), tokens.Refresh); err != nil || b.Requests() != 2 {
			t.Errorf("%s: a renewal: %v after %d requests", method, err, b.Requests())
		}
		if _, err := b.provider.Refresh(t.Context(), "guessed"); !errors.Is(err, oidc.ErrRejected) || b.Requests() != 3 {
			t.Errorf("%s: a rejected renewal: %v after %d requests", method, err, b.Requests())
		}
	}
}

// Anybody can start sign-ins: what they keep is bounded.
func TestALongPageIsNotKept(t *testing.T) {
	b := newBed(t)
	at, secret, err := b.Start(t.Context(), redirect, "/"+strings.Repeat("a", 16<<10))
	if err != nil {
		t.Fatal(err)
	}
	state := at[strings.Index(at, "state=")+len("state="):]
	if _, target, _ := b.Finish(t.Context(), oidc.Answer{State: state, Browser: secret, Error: "access_denied"}); target != "/" {
		t.Errorf("%d bytes were kept", len(target))
	}
}
