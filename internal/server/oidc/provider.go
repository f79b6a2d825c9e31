package oidc

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// requestTimeout is the maximum duration of a request to the issuer.
	requestTimeout = 10 * time.Second
	// maxAnswer is the maximum size of an answer of the issuer.
	maxAnswer = 1 << 20
	maxSecret = 4 << 10
	// retryAfter is the time between two queries of an issuer that does not answer.
	retryAfter = 2 * time.Second
	// A connection that answers no ping in time is closed.
	pingInterval = 5 * time.Second
	pingTimeout  = 5 * time.Second
)

// The errors of a Provider.
var (
	// ErrIssuer is an issuer that did not answer, or not as the protocol requires.
	ErrIssuer = errors.New("the OpenID Connect issuer did not answer")
	// ErrRejected is a code or a refresh token that the issuer rejects.
	ErrRejected = errors.New("the OpenID Connect issuer rejects the request")
)

// Tokens are what an issuer has issued.
type Tokens struct {
	ID      string
	Refresh string // empty if the issuer issues none
}

// Provider is an issuer.
type Provider struct {
	options Options
	secret  string
	client  *http.Client
	now     func() time.Time

	mu       sync.Mutex
	found    *discovered // nil until the issuer has answered
	failed   error       // of the last query
	failedAt time.Time
}

// New returns the provider of checked options. The issuer is not queried yet: it may be down when
// the server starts, or run in the cluster.
func New(options Options, now func() time.Time) (*Provider, error) {
	p := &Provider{options: options, now: now, client: &http.Client{Timeout: requestTimeout}}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: requestTimeout,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		// A connection to an issuer that has moved would be used for the next renewal, too.
		HTTP2: &http.HTTP2Config{SendPingTimeout: pingInterval, PingTimeout: pingTimeout},
	}
	if options.CAFile != "" {
		raw, err := os.ReadFile(options.CAFile)
		if err != nil {
			return nil, fmt.Errorf("cannot read the certificates of the issuer: %w", err)
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("%s has no certificates in PEM format", options.CAFile)
		}
	}
	p.client.Transport = limited{transport}
	if options.SecretFile != "" {
		raw, err := os.ReadFile(options.SecretFile)
		if err != nil {
			return nil, fmt.Errorf("cannot read the secret of the client: %w", err)
		}
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 || len(raw) > maxSecret {
			return nil, fmt.Errorf("%s does not have the secret of a client", options.SecretFile)
		}
		p.secret = string(raw)
	}
	return p, nil
}

// Issuer is the URL of the issuer.
func (p *Provider) Issuer() string { return p.options.Issuer }

// limited limits the size of answers, and sends nothing without TLS: the issuer could name an
// address with http, or redirect to one, and requests have codes, tokens and a secret.
type limited struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" {
		return nil, fmt.Errorf("%w: %s://%s", errPlain, r.URL.Scheme, r.URL.Host)
	}
	answer, err := l.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	return answer, nil
}

// discover queries the issuer until it has answered once. Callers that have waited for the same
// query get its error.
func (p *Provider) discover(ctx context.Context) (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.found != nil:
		return p.found, nil
	case p.failed != nil && p.now().Before(p.failedAt.Add(retryAfter)):
		return nil, p.failed
	}
	// The context stays in the provider, for the keys of the issuer: it must not end.
	found, err := p.query(context.WithoutCancel(ctx))
	if err != nil {
		p.failed, p.failedAt = fmt.Errorf("%w: %w", ErrIssuer, err), p.now()
		return nil, p.failed
	}
	p.found, p.failed = found, nil
	return found, nil
}

func (p *Provider) config(found *discovered, redirect string) *oauth2.Config {
	scopes := []string{gooidc.ScopeOpenID}
	for _, scope := range p.options.Scopes {
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return &oauth2.Config{ClientID: p.options.ClientID, ClientSecret: p.secret, Endpoint: found.endpoint, RedirectURL: redirect, Scopes: scopes}
}

// verify returns an ID token that the issuer has signed for this client, and is valid.
func (p *Provider) verify(ctx context.Context, found *discovered, token *oauth2.Token) (*gooidc.IDToken, string, error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return nil, "", fmt.Errorf("%w: the answer has no ID token", ErrRejected)
	}
	verified, err := found.Verifier(&gooidc.Config{ClientID: p.options.ClientID, Now: p.now}).Verify(ctx, raw)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrRejected, err)
	}
	return verified, raw, nil
}

// Refresh returns new tokens for a refresh token.
func (p *Provider) Refresh(ctx context.Context, refresh string) (Tokens, error) {
	ctx = gooidc.ClientContext(ctx, p.client)
	found, err := p.discover(ctx)
	if err != nil {
		return Tokens{}, err
	}
	token, err := p.config(found, "").TokenSource(ctx, &oauth2.Token{RefreshToken: refresh}).Token()
	if err != nil {
		return Tokens{}, failure(err)
	}
	_, raw, err := p.verify(ctx, found, token)
	if err != nil {
		return Tokens{}, err
	}
	return Tokens{ID: raw, Refresh: token.RefreshToken}, nil
}

// failure classifies the error of a request for tokens. It drops what the issuer has answered
// beside its code: a body can have anything.
func failure(err error) error {
	is, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return fmt.Errorf("%w: %w", ErrIssuer, err)
	}
	status := 0
	if is.Response != nil {
		status = is.Response.StatusCode
	}
	if is.ErrorCode != "" && status < http.StatusInternalServerError && status != http.StatusTooManyRequests {
		return fmt.Errorf("%w: %q", ErrRejected, is.ErrorCode)
	}
	return fmt.Errorf("%w: status %d", ErrIssuer, status)
}
