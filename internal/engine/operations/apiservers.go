package operations

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/connrotation"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nameOfAll is a name in the certificate of each API server of a cluster: Pods use it.
const nameOfAll = "kubernetes.default.svc"

// APIServers are the API servers of a cluster. Connections go to the address of the kubeconfig
// until an API server does not respond, and then to the next one, whose certificate must be signed
// by the authority of the kubeconfig and valid for kubernetes.default.svc. Its own address is not
// enough: a kubelet can have such a certificate, too. Without the verification of certificates,
// there is no next one: tokens would be sent to whoever has an address.
type APIServers struct {
	plain  *rest.Config
	first  string
	proven bool // by certificates
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	dialer *connrotation.Dialer

	mu     sync.Mutex
	others []string
	at     string // the address in use; empty: the first
}

// NewAPIServers returns the API servers of a configuration, and connects its clients through them.
func NewAPIServers(config *rest.Config) (*APIServers, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("the address of the API server is invalid: %w", err)
	}
	port := server.Port()
	if port == "" {
		port = "443"
	}
	a := &APIServers{
		plain: rest.CopyConfig(config),
		first: net.JoinHostPort(server.Hostname(), port), proven: server.Scheme == "https" && !config.Insecure, dial: config.Dial,
	}
	if a.dial == nil {
		a.dial = (&net.Dialer{Timeout: requestTimeout}).DialContext
	}
	a.dialer = connrotation.NewDialer(a.dial)
	if err := a.Connect(config); err != nil {
		return nil, err
	}
	return a, nil
}

// Plain returns the configuration as it was before its clients were connected through these API
// servers, for requests that no other one may answer.
func (a *APIServers) Plain() *rest.Config { return rest.CopyConfig(a.plain) }

// Connect lets the clients of another configuration of the same API server connect through these.
func (a *APIServers) Connect(config *rest.Config) error {
	config.Dial = a.dialer.DialContext
	if !a.proven {
		return nil
	}
	others, err := a.toOthers(config)
	if err != nil {
		return fmt.Errorf("cannot verify API servers: %w", err)
	}
	config.Wrap(func(first http.RoundTripper) http.RoundTripper {
		return &chosen{servers: a, first: first, others: others}
	})
	return nil
}

// toOthers returns the transport to the API servers beside that of a configuration, without its
// tokens. As that of client-go, it closes connections whose client certificate was replaced.
func (a *APIServers) toOthers(config *rest.Config) (http.RoundTripper, error) {
	config = rest.CopyConfig(config)
	config.Dial, config.ServerName = a.dialOther, nameOfAll
	out, err := config.TransportConfig()
	if err != nil {
		return nil, err
	}
	return transport.New(&transport.Config{TLS: out.TLS, DialHolder: out.DialHolder, Proxy: out.Proxy, DisableCompression: out.DisableCompression})
}

// chosen sends requests to the API server in use.
type chosen struct {
	servers       *APIServers
	first, others http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (c *chosen) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.servers.inUse() == "" {
		return c.first.RoundTrip(r)
	}
	return c.others.RoundTrip(r)
}

// WrappedRoundTripper lets client-go find the transport.
func (c *chosen) WrappedRoundTripper() http.RoundTripper { return c.first }

func (a *APIServers) inUse() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at
}

// count returns the number of addresses.
func (a *APIServers) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return 1 + len(a.others)
}

// dialOther dials the API server in use. Other addresses, such as that of a proxy, stay as they
// are.
func (a *APIServers) dialOther(ctx context.Context, network, address string) (net.Conn, error) {
	if at := a.inUse(); address == a.first && at != "" {
		address = at
	}
	return a.dialer.DialContext(ctx, network, address)
}

// next closes all connections, and uses the next API server. One alone stays in use.
func (a *APIServers) next() {
	a.mu.Lock()
	alone := len(a.others) == 0 && a.at == ""
	if at := slices.Index(a.others, a.at) + 1; at < len(a.others) {
		a.at = a.others[at]
	} else {
		a.at = ""
	}
	a.mu.Unlock()
	if !alone {
		a.dialer.CloseAll()
	}
}

// set sets the addresses beside that of the kubeconfig, and returns them. An API server that has
// left the cluster is not dialed any more, even if it answers: its data may be old.
func (a *APIServers) set(found []string) []string {
	if !a.proven {
		return nil
	}
	a.mu.Lock()
	others := slices.DeleteFunc(slices.Sorted(slices.Values(found)), func(address string) bool { return address == a.first })
	a.others = others
	left := a.at != "" && !slices.Contains(others, a.at)
	if left {
		a.at = ""
	}
	a.mu.Unlock()
	if left {
		a.dialer.CloseAll()
	}
	return others
}

// findAPIServers reads the addresses of the API servers, as they have registered them, and returns
// those in use beside that of the kubeconfig.
func (c *Cluster) findAPIServers(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var slice discoveryv1.EndpointSlice
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "kubernetes"}, &slice); err != nil {
		return nil, fmt.Errorf("cannot read the addresses of the API servers: %w", err)
	}
	return c.APIServers.set(addressesOf(&slice)), nil
}

func addressesOf(slice *discoveryv1.EndpointSlice) (out []string) {
	for _, port := range slice.Ports {
		if port.Port == nil || port.Protocol != nil && *port.Protocol != corev1.ProtocolTCP {
			continue
		}
		for _, endpoint := range slice.Endpoints {
			for _, address := range endpoint.Addresses {
				out = append(out, net.JoinHostPort(address, strconv.Itoa(int(*port.Port))))
			}
		}
	}
	return out
}
