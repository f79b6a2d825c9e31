package oidc_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/server/oidc"
	"github.com/refit-dev/refit/internal/server/oidc/oidctest"
)

const redirect = "https://refit.example.com/api/v1alpha1/session/callback"

// bed is an issuer, and the sign-ins at it.
type bed struct {
	*oidctest.Issuer
	*oidc.Flows
	provider *oidc.Provider
	now      time.Time
	browser  *http.Client
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{Issuer: oidctest.Start(t), now: time.Now()}
	now := func() time.Time { return b.now }
	var err error
	b.provider, err = oidc.New(oidc.Options{
		Issuer: b.URL, ClientID: oidctest.ClientID, SecretFile: b.SecretFile(t), CAFile: b.CAFile, Scopes: oidc.DefaultScopes,
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	b.Flows = oidc.NewFlows(b.provider, now)
	pem, err := os.ReadFile(b.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	b.browser = &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(b.browser.CloseIdleConnections)
	return b
}

// signIn signs in at the issuer, and returns what the browser has then.
func (b *bed) signIn(t *testing.T) (state, secret, code string) {
	t.Helper()
	at, secret, err := b.Start(t.Context(), redirect, "/nodes/cp-1")
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := b.browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	to, err := url.Parse(answer.Header.Get("Location"))
	if err != nil || !strings.HasPrefix(to.String(), redirect) {
		t.Fatalf("%d %s %v", answer.StatusCode, to, err)
	}
	return to.Query().Get("state"), secret, to.Query().Get("code")
}

func TestASignInReturnsTokensAndWhereItStarted(t *testing.T) {
	b := newBed(t)
	state, secret, code := b.signIn(t)
	tokens, target, err := b.Finish(t.Context(), oidc.Answer{State: state, Browser: secret, Code: code})
	if err != nil || strings.Count(tokens.ID, ".") != 2 || tokens.Refresh != "refresh-1" || target != "/nodes/cp-1" {
		t.Fatalf("%+v %q %v", tokens, target, err)
	}
	for round := range 3 {
		before := tokens
		if tokens, err = b.provider.Refresh(t.Context(), tokens.Refresh); err != nil || tokens.Refresh == before.Refresh || tokens.ID == "" {
			t.Fatalf("renewal %d: %+v %v", round, tokens, err)
		}
	}
	if _, err := b.provider.Refresh(t.Context(), "refresh-1"); !errors.Is(err, oidc.ErrRejected) {
		t.Errorf("a used refresh token: %v", err)
	}
}

func TestASignInEndsOnlyWhereItStartedAndOnce(t *testing.T) {
	b := newBed(t)
	state, secret, code := b.signIn(t)
	if _, target, err := b.Finish(t.Context(), refusedAt(b.signIn(t))); !errors.Is(err, oidc.ErrRejected) || target != "/nodes/cp-1" {
		t.Errorf("a refusal of the issuer: %q %v", target, err)
	}
	for what, cookie := range map[string]string{"another browser": "guessed", "no cookie": ""} {
		if _, _, err := b.Finish(t.Context(), oidc.Answer{State: state, Browser: cookie, Code: code}); !errors.Is(err, oidc.ErrNoFlow) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, _, err := b.Finish(t.Context(), oidc.Answer{State: "guessed", Browser: secret, Code: code}); !errors.Is(err, oidc.ErrNoFlow) {
		t.Errorf("another state: %v", err)
	}
	if _, _, err := b.Finish(t.Context(), oidc.Answer{State: state, Browser: secret, Code: code}); err != nil {
		t.Errorf("the browser that has started it: %v", err)
	}
	if _, _, err := b.Finish(t.Context(), oidc.Answer{State: state, Browser: secret, Code: code}); !errors.Is(err, oidc.ErrNoFlow) {
		t.Errorf("twice: %v", err)
	}
	state, secret, code = b.signIn(t)
	b.now = b.now.Add(oidc.FlowValidFor)
	if _, _, err := b.Finish(t.Context(), oidc.Answer{State: state, Browser: secret, Code: code}); !errors.Is(err, oidc.ErrNoFlow) {
		t.Errorf("after ten minutes: %v", err)
	}
}

func refusedAt(state, secret, _ string) oidc.Answer {
	return oidc.Answer{State: state, Browser: secret, Error: "access_denied"}
}

// A page that starts a sign-in with the code of somebody else must not sign its visitor in as them.
func TestACodeOfAnotherSignInIsRejected(t *testing.T) {
	b := newBed(t)
	_, _, stolen := b.signIn(t)
	state, secret, _ := b.signIn(t)
	if _, _, err := b.Finish(t.Context(), oidc.Answer{State: state, Browser: secret, Code: stolen}); !errors.Is(err, oidc.ErrRejected) || strings.Contains(err.Error(), "canary") {
		t.Errorf("the code of another sign-in: %v", err)
	}
}

func TestAnInvalidTokenIsRejected(t *testing.T) {
	for claim, value := range map[string]any{
		"iss": "https://elsewhere.example.com", "aud": "another-client", "exp": time.Now().Add(-time.Minute).Unix(), "nonce": "of another sign-in",
	} {
		t.Run(claim, func(t *testing.T) {
			b := newBed(t)
			b.Change(claim, value)
			state, secret, code := b.signIn(t)
			if tokens, _, err := b.Finish(t.Context(), oidc.Answer{State: state, Browser: secret, Code: code}); !errors.Is(err, oidc.ErrRejected) || tokens.ID != "" {
				t.Errorf("%+v %v", tokens, err)
			}
		})
	}
}

func TestAnIssuerThatIsDownDoesNotStopTheServer(t *testing.T) {
	b := newBed(t)
	b.Stop(true)
	for range 2 {
		if _, _, err := b.Start(t.Context(), redirect, "/"); !errors.Is(err, oidc.ErrIssuer) {
			t.Fatalf("%v", err)
		}
	}
	b.Stop(false)
	b.now = b.now.Add(3 * time.Second)
	state, secret, code := b.signIn(t)
	b.Stop(true)
	if _, err := b.provider.Refresh(t.Context(), "refresh-0"); !errors.Is(err, oidc.ErrIssuer) {
		t.Errorf("a renewal: %v", err)
	}
	if _, _, err := b.Finish(t.Context(), oidc.Answer{State: state, Browser: secret, Code: code}); !errors.Is(err, oidc.ErrIssuer) {
		t.Errorf("the end of a sign-in: %v", err)
	}
}

func TestSignInsAreBounded(t *testing.T) {
	b := newBed(t)
	var err error
	for n := 0; err == nil; n++ {
		if _, _, err = b.Start(context.WithoutCancel(t.Context()), redirect, "/"); n > 2000 {
			t.Fatal("there is no limit")
		}
	}
	if !errors.Is(err, oidc.ErrTooMany) {
		t.Error(err)
	}
	b.now = b.now.Add(oidc.FlowValidFor)
	if _, _, err := b.Start(t.Context(), redirect, "/"); err != nil {
		t.Errorf("after those have expired: %v", err)
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	for flag, o := range map[string]oidc.Options{
		"--oidc-issuer-url: \"http://":  {Issuer: "http://dex.example.com", ClientID: "refit"},
		"--oidc-issuer-url: \"https://": {Issuer: "https://dex.example.com/?x=1", ClientID: "refit"},
		"needs --oidc-client-id":        {Issuer: "https://dex.example.com"},
		"need --oidc-issuer-url":        {ClientID: "refit"},
		"--oidc-scope":                  {Issuer: "https://dex.example.com", ClientID: "refit", Scopes: []string{""}},
	} {
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := oidc.New(oidc.Options{Issuer: "https://x", ClientID: "refit", CAFile: "absent"}, time.Now); err == nil {
		t.Error("a file that does not exist")
	}
}
