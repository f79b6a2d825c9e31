package oidc

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// FlowValidFor is the maximum duration of a sign-in.
	FlowValidFor = 10 * time.Minute
	maxFlows     = 1000
	// maxTarget bounds the memory of a sign-in.
	maxTarget = 2 << 10
)

// The errors of Flows.
var (
	// ErrNoFlow is a sign-in that has not started in this browser, is completed, or took too long.
	ErrNoFlow = errors.New("the sign-in did not start in this browser, or it took too long")
	// ErrTooMany is returned while too many people sign in at once.
	ErrTooMany = errors.New("there are too many sign-ins at once")
)

// Flows are the sign-ins in progress.
type Flows struct {
	provider *Provider
	now      func() time.Time

	mu   sync.Mutex
	open map[string]flow // by state
}

// flow is a sign-in in progress.
type flow struct {
	browser          [sha256.Size]byte // of the secret of its cookie
	nonce, verifier  string
	redirect, target string
	expires          time.Time
}

// NewFlows returns the sign-ins at an issuer.
func NewFlows(provider *Provider, now func() time.Time) *Flows {
	return &Flows{provider: provider, now: now, open: map[string]flow{}}
}

// Start starts a sign-in: it returns the URL of the issuer, and the secret of a cookie for the
// browser. The issuer sends the browser to redirect. Finish returns target.
func (f *Flows) Start(ctx context.Context, redirect, target string) (url, browser string, err error) {
	found, err := f.provider.discover(gooidc.ClientContext(ctx, f.provider.client))
	if err != nil {
		return "", "", err
	}
	if len(target) > maxTarget {
		target = "/"
	}
	state, browser := rand.Text(), rand.Text()
	is := flow{
		browser: sha256.Sum256([]byte(browser)), nonce: rand.Text(), verifier: oauth2.GenerateVerifier(),
		redirect: redirect, target: target, expires: f.now().Add(FlowValidFor),
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.open, func(_ string, is flow) bool { return !f.now().Before(is.expires) })
	if len(f.open) >= maxFlows {
		return "", "", ErrTooMany
	}
	f.open[state] = is
	return f.provider.config(found, redirect).AuthCodeURL(state, gooidc.Nonce(is.nonce), oauth2.S256ChallengeOption(is.verifier)), browser, nil
}

// Answer is what the issuer sends the browser back with, and the secret of its cookie.
type Answer struct{ State, Browser, Code, Error string }

// Finish completes a sign-in. It returns the target of Start.
func (f *Flows) Finish(ctx context.Context, a Answer) (_ Tokens, target string, _ error) {
	is, found := f.take(a.State, a.Browser)
	switch {
	case !found:
		return Tokens{}, "", ErrNoFlow
	case a.Error != "" || a.Code == "":
		return Tokens{}, is.target, fmt.Errorf("%w: %q", ErrRejected, a.Error)
	}
	ctx = gooidc.ClientContext(ctx, f.provider.client)
	provider, err := f.provider.discover(ctx)
	if err != nil {
		return Tokens{}, is.target, err
	}
	token, err := f.provider.config(provider, is.redirect).Exchange(ctx, a.Code, oauth2.VerifierOption(is.verifier))
	if err != nil {
		return Tokens{}, is.target, failure(err)
	}
	verified, raw, err := f.provider.verify(ctx, provider, token)
	if err != nil {
		return Tokens{}, is.target, err
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(is.nonce)) != 1 {
		return Tokens{}, is.target, fmt.Errorf("%w: the ID token is of another sign-in", ErrRejected)
	}
	return Tokens{ID: raw, Refresh: token.RefreshToken}, is.target, nil
}

// take ends a sign-in that has started in a browser. A browser without its cookie does not end it.
func (f *Flows) take(state, browser string) (flow, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	is, found := f.open[state]
	sum := sha256.Sum256([]byte(browser))
	if !found || subtle.ConstantTimeCompare(sum[:], is.browser[:]) != 1 {
		return flow{}, false
	}
	delete(f.open, state)
	return is, f.now().Before(is.expires)
}
