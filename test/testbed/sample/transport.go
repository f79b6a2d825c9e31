package sample

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

const userAgent = "refit-testbed-sample"

// configMapURL returns the URL of the GET. It has no resourceVersion, so the API server reads from
// an etcd quorum instead of its cache.
func configMapURL(api *rest.Config, namespace, name string) (string, error) {
	hasTLS := api.Insecure || len(api.CAData)+len(api.CertData)+len(api.CAFile)+len(api.CertFile) > 0
	base, _, err := rest.DefaultServerURL(api.Host, "/api", schema.GroupVersion{Version: "v1"}, hasTLS)
	if err != nil {
		return "", fmt.Errorf("read the API server's address: %w", err)
	}
	return base.JoinPath("api/v1/namespaces", namespace, "configmaps", name).String(), nil
}

// direct returns a copy of the config that ignores HTTP_PROXY: the path to the control plane is
// measured, not the one to a proxy. It also prevents client-go from sharing the connection with
// other clients of this process.
func direct(api *rest.Config) *rest.Config {
	c := rest.CopyConfig(api)
	c.UserAgent = userAgent
	if c.Proxy == nil {
		c.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	return c
}

// reusedConnection is the transport of client-go, with its HTTP/2 keepalives, pings and timeouts.
// How long a client keeps a dead connection is part of the user experience.
func reusedConnection(api *rest.Config) (http.RoundTripper, error) {
	rt, err := rest.TransportFor(direct(api))
	if err != nil {
		return nil, fmt.Errorf("make a client-go transport: %w", err)
	}
	return rt, nil
}

// newConnections authenticates as the config specifies, over a new connection each time.
func newConnections(api *rest.Config, timeout time.Duration) (http.RoundTripper, error) {
	c := direct(api)
	tlsConfig, err := rest.TLSConfigFor(c)
	if err != nil {
		return nil, fmt.Errorf("read the API's TLS settings: %w", err)
	}
	dial := c.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	t := singleUse(dial, timeout)
	t.Proxy = c.Proxy
	t.TLSClientConfig = tlsConfig
	rt, err := rest.HTTPWrappersForConfig(c, t)
	if err != nil {
		return nil, fmt.Errorf("read the API's credentials: %w", err)
	}
	return rt, nil
}

// singleUse is a transport that opens a connection for each request. In net/http, a dial and its
// TLS handshake outlive a canceled request, so both need their own timeout, or they would pile up
// during an outage.
func singleUse(dial DialFunc, timeout time.Duration) *http.Transport {
	return &http.Transport{
		DisableKeepAlives:   true,
		TLSHandshakeTimeout: timeout,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			return dial(ctx, network, addr)
		},
	}
}
