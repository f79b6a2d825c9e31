package cluster

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

const (
	dialTimeout = 10 * time.Second
	idleTimeout = 90 * time.Second
)

// fingerprint detects replaced files: kubeadm and the kubelet replace them.
type fingerprint map[string]os.FileInfo

func fingerprintOf(paths ...string) fingerprint {
	f := fingerprint{}
	for _, path := range paths {
		if path != "" {
			f[path], _ = os.Stat(path)
		}
	}
	return f
}

func (f fingerprint) changed() bool {
	for path, before := range f {
		now, err := os.Stat(path)
		if (err == nil) != (before != nil) {
			return true
		}
		if err == nil && (!os.SameFile(now, before) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime())) {
			return true
		}
	}
	return false
}

// current returns the current connection. It reconnects if the kubeconfig or a certificate was
// replaced (the kubelet rotates its own, and kubeadm points the kubelet of a control plane node at
// its local API server), and after a failure. client-go would instead reread the certificate every
// five minutes in a goroutine, and never reconnect to another address.
func (c *Client) current() (*connection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && !c.last.files.changed() {
		return c.last, nil
	}
	made, err := c.connect()
	if err != nil {
		return nil, err
	}
	if c.last != nil {
		c.last.http.CloseIdleConnections()
	}
	c.last = made
	return made, nil
}

func (c *Client) connect() (*connection, error) {
	files := fingerprintOf(c.kubeconfig) // before reading it, so that no replacement is missed
	config, err := c.load()
	if err != nil {
		return nil, err
	}
	maps.Copy(files, fingerprintOf(config.CAFile, config.CertFile, config.KeyFile, config.BearerTokenFile))
	switch name, err := nodeName(config); {
	case err != nil:
		return nil, err
	case name != c.nodeName:
		return nil, fmt.Errorf("the kubelet's kubeconfig is for node %s, not for %s", name, c.nodeName)
	}
	client, err := httpClient(config)
	if err != nil {
		return nil, err
	}
	made := &connection{files: files, server: config.Host, http: client}
	if made.refit, made.core, err = restClients(config, client); err != nil {
		return nil, fmt.Errorf("cannot create an API client: %w", err)
	}
	return made, nil
}

func httpClient(config *rest.Config) (*http.Client, error) {
	wanted, err := config.TransportConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot create an API client: %w", err)
	}
	secured, err := transport.TLSConfigFor(wanted)
	if err != nil {
		return nil, fmt.Errorf("cannot create an API client: %w", err)
	}
	base := utilnet.SetTransportDefaults(&http.Transport{ // pings detect dead connections
		Proxy:               http.ProxyFromEnvironment,
		TLSHandshakeTimeout: dialTimeout,
		TLSClientConfig:     secured,
		DialContext:         (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		IdleConnTimeout:     idleTimeout,
		MaxIdleConnsPerHost: 2,
	})
	wrapped, err := transport.HTTPWrappersForConfig(wanted, base)
	if err != nil {
		return nil, fmt.Errorf("cannot create an API client: %w", err)
	}
	return &http.Client{Transport: wrapped}, nil
}

// after drops the connection if the request failed on it, so that the next request reads the files
// and dials again.
func (c *Client) after(used *connection, err error) error {
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) && !apierrors.IsUnauthorized(err) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == used {
		c.last = nil
	}
	used.http.CloseIdleConnections()
	return err
}
