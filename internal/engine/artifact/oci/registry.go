package oci

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
)

// The limits of an exchange with a registry. A ClusterRelease has at most 384 KiB: its envelope is
// in base64.
const (
	maxManifest = 64 << 10
	maxRelease  = 1 << 20
	maxKey      = 4 << 10
	maxCharts   = 128

	connectTimeout = 10 * time.Second
	answerTimeout  = 30 * time.Second
	maxRedirects   = 5
)

// Registry accesses registries with the credentials of `docker login`.
type Registry struct {
	// PlainHTTP permits registries without TLS. One on this machine needs no permission.
	PlainHTTP bool
	// Timeout bounds each operation; a minute if it is 0.
	Timeout time.Duration
}

// repository returns a client for the repository of an address.
func (r *Registry) repository(at Reference) (*remote.Repository, error) {
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot read the credentials of registries: %w", err)
	}
	out, err := remote.NewRepository(at.at.Registry + "/" + at.at.Repository)
	if err != nil {
		return nil, fmt.Errorf("cannot use the registry: %w", err)
	}
	out.PlainHTTP = r.PlainHTTP || at.isLoopback()
	out.MaxMetadataBytes = maxManifest
	out.Client = &auth.Client{
		Client: &http.Client{Transport: newTransport(out.PlainHTTP), CheckRedirect: checkRedirect},
		Header: http.Header{"User-Agent": {"refit"}}, Credential: credentials.Credential(store), Cache: auth.NewCache(),
	}
	return out, nil
}

// within bounds an operation.
func (r *Registry) within(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(r.Timeout, time.Minute))
	defer cancel()
	return do(ctx)
}

func checkRedirect(_ *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects {
		return errors.New("too many redirects")
	}
	return nil
}

// transport refuses requests without TLS, also those of a redirect or of a server for tokens.
type transport struct {
	http.RoundTripper

	plainHTTP bool
}

func newTransport(plainHTTP bool) *transport {
	return &transport{plainHTTP: plainHTTP, RoundTripper: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout:   connectTimeout,
		ResponseHeaderTimeout: answerTimeout,
		IdleConnTimeout:       answerTimeout,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true, // sizes must be those of the content
	}}
}

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme != "https" && !t.plainHTTP {
		return nil, fmt.Errorf("refusing %s: it has no TLS", request.URL.Redacted())
	}
	return t.RoundTripper.RoundTrip(request)
}
