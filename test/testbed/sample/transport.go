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

// configMapURL is the address of the GET. It carries no resourceVersion, so that
// the API server answers from a quorum of etcd and not from its own cache.
func configMapURL(api *rest.Config, namespace, name string) (string, error) {
	hasTLS := api.Insecure || len(api.CAData)+len(api.CertData)+len(api.CAFile)+len(api.CertFile) > 0
	base, _, err := rest.DefaultServerURL(api.Host, "/api", schema.GroupVersion{Version: "v1"}, hasTLS)
	if err != nil {
		return "", fmt.Errorf("read the API server's address: %w", err)
	}
	return base.JoinPath("api/v1/namespaces", namespace, "configmaps", name).String(), nil
}

// direct makes a copy of the config that ignores HTTP_PROXY and its like: what
// is measured is the way to the control plane, not to a proxy. It also keeps
// client-go from sharing our connection with other clients of this process.
func direct(api *rest.Config) *rest.Config {
	c := rest.CopyConfig(api)
	c.UserAgent = userAgent
	if c.Proxy == nil {
		c.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	return c
}

// reusedConnection is client-go's own transport: HTTP/2, its keepalives, its
// pings of an idle connection, its dial timeout. How long a client clings to a
// dead connection is part of what its user sees.
func reusedConnection(api *rest.Config) (http.RoundTripper, error) {
	rt, err := rest.TransportFor(direct(api))
	if err != nil {
		return nil, fmt.Errorf("make a client-go transport: %w", err)
	}
	return rt, nil
}

// newConnections logs in as the config says, over a new connection each time.
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

// singleUse is a transport that makes a connection for each request. net/http
// lets a dial and its TLS handshake live on after their request was given up, so
// both need a limit of their own or an outage would pile them up.
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
