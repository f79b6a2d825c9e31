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

// fingerprint tells whether a file was replaced. Both kubeadm and the kubelet write such files anew.
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

// current is the connection to use now. A new one is made when the kubeconfig or the certificate was replaced (the kubelet rotates its own, and kubeadm
// points a control plane node's kubelet at its local API server), and after a failure. The library's way would be a goroutine that reads the
// certificate every five minutes, and connections that are never given up for another address.
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
	files := fingerprintOf(c.kubeconfig) // before it is read: what is replaced meanwhile is seen the next time
	config, err := c.load()
	if err != nil {
		return nil, err
	}
	maps.Copy(files, fingerprintOf(config.CAFile, config.CertFile, config.KeyFile, config.BearerTokenFile))
	switch name, err := nodeName(config); {
	case err != nil:
		return nil, err
	case name != c.nodeName:
		return nil, fmt.Errorf("the kubelet's kubeconfig is now that of node %s, not of %s", name, c.nodeName)
	}
	client, err := httpClient(config)
	if err != nil {
		return nil, err
	}
	made := &connection{files: files, server: config.Host, http: client}
	if made.refit, made.core, err = restClients(config, client); err != nil {
		return nil, fmt.Errorf("preparing to ask the API: %w", err)
	}
	return made, nil
}

func httpClient(config *rest.Config) (*http.Client, error) {
	wanted, err := config.TransportConfig()
	if err != nil {
		return nil, fmt.Errorf("preparing to ask the API: %w", err)
	}
	secured, err := transport.TLSConfigFor(wanted)
	if err != nil {
		return nil, fmt.Errorf("preparing to ask the API: %w", err)
	}
	base := utilnet.SetTransportDefaults(&http.Transport{ // with pings, so that a connection that leads nowhere is noticed
		Proxy:               http.ProxyFromEnvironment,
		TLSHandshakeTimeout: dialTimeout,
		TLSClientConfig:     secured,
		DialContext:         (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		IdleConnTimeout:     idleTimeout,
		MaxIdleConnsPerHost: 2,
	})
	wrapped, err := transport.HTTPWrappersForConfig(wanted, base)
	if err != nil {
		return nil, fmt.Errorf("preparing to ask the API: %w", err)
	}
	return &http.Client{Transport: wrapped}, nil
}

// after looks at how a request ended, and gives up the connection if that is what failed: the next one looks at the files and dials anew.
func (c *Client) after(used *connection, err error) error {
	if err == nil {
		return nil
	}
	var answered apierrors.APIStatus
	if errors.As(err, &answered) && !apierrors.IsUnauthorized(err) {
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
