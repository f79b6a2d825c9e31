package operations_test

import (
	"context"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
)

// registered is the EndpointSlice of API servers with these addresses.
func registered(port int32, addresses ...string) client.Object {
	slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"}, AddressType: discoveryv1.AddressTypeIPv4}
	slice.Ports = []discoveryv1.EndpointPort{{Port: &port}}
	for _, address := range addresses {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{address}})
	}
	return slice
}

// find lets a cluster read the addresses of its API servers.
func find(t *testing.T, c *operations.Cluster) *operations.Mirror {
	t.Helper()
	m := operations.NewMirror(c, operations.NewCopy())
	if err := m.FindAPIServers(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m
}

// dialed records the addresses that are dialed. None of them answers.
type dialed struct{ addresses []string }

func (d *dialed) dial(_ context.Context, _, address string) (net.Conn, error) {
	d.addresses = append(d.addresses, address)
	return nil, net.ErrClosed
}

func TestTheNextAPIServerIsDialedAfterOneDoesNotRespond(t *testing.T) {
	d := &dialed{}
	config := &rest.Config{Host: "https://lb.example.com", Dial: d.dial}
	servers, err := operations.NewAPIServers(config)
	if err != nil {
		t.Fatal(err)
	}
	c := &operations.Cluster{Client: operationstest.NewClient(t, registered(6443, "10.0.0.2", "10.0.0.1", "fd00::3")), APIServers: servers}
	dial := func(address string) { _, _ = config.Dial(t.Context(), "tcp", address) }
	c.Redial()
	dial("lb.example.com:443") // the only one that is known
	find(t, c)
	for range 5 {
		dial("lb.example.com:443")
		dial("proxy.example.com:3128")
		c.Redial()
	}
	const proxy = "proxy.example.com:3128"
	want := []string{
		"lb.example.com:443",
		"lb.example.com:443", proxy, "10.0.0.1:6443", proxy, "10.0.0.2:6443", proxy, "[fd00::3]:6443", proxy, "lb.example.com:443", proxy,
	}
	if !slices.Equal(d.addresses, want) {
		t.Errorf("dialed %q\nwant   %q", d.addresses, want)
	}
}

// A server that restarts while its load balancer is down cannot read the addresses.
func TestTheAddressesOutlastARestart(t *testing.T) {
	d := &dialed{}
	config := &rest.Config{Host: "https://lb.example.com", Dial: d.dial}
	servers, err := operations.NewAPIServers(config)
	if err != nil {
		t.Fatal(err)
	}
	var last operations.Copy
	before := find(t, &operations.Cluster{Client: operationstest.NewClient(t, registered(6443, "10.0.0.1")), APIServers: servers})
	before.Read(func(c *operations.Copy) { last = c.Clone() })

	after := &rest.Config{Host: "https://lb.example.com", Dial: d.dial}
	c := &operations.Cluster{Client: operationstest.NewClient(t)}
	if c.APIServers, err = operations.NewAPIServers(after); err != nil {
		t.Fatal(err)
	}
	operations.NewMirror(c, last)
	for range 2 {
		_, _ = after.Dial(t.Context(), "tcp", "lb.example.com:443")
		c.Redial()
	}
	if want := []string{"lb.example.com:443", "10.0.0.1:6443"}; !slices.Equal(d.addresses, want) {
		t.Errorf("dialed %q, want %q", d.addresses, want)
	}
}

// The EndpointSlice has addresses that nothing but a certificate proves to be of API servers, and
// the address of "kubectl proxy" has no TLS: tokens would be sent to them in plain text.
func TestNoOtherAddressIsDialedWithoutCertificates(t *testing.T) {
	for host, insecure := range map[string]bool{"http://127.0.0.1:8001": false, "127.0.0.1:8001": false, "https://lb.example.com": true} {
		d := &dialed{}
		config := &rest.Config{Host: host, Dial: d.dial}
		config.Insecure = insecure
		servers, err := operations.NewAPIServers(config)
		if err != nil {
			t.Fatal(err)
		}
		c := &operations.Cluster{Client: operationstest.NewClient(t, registered(6443, "10.0.0.2", "10.0.0.1")), APIServers: servers}
		find(t, c)
		first := "127.0.0.1:8001"
		if insecure {
			first = "lb.example.com:443"
		}
		for range 3 {
			c.Redial()
			_, _ = config.Dial(t.Context(), "tcp", first)
		}
		if !slices.Equal(d.addresses, []string{first, first, first}) {
			t.Errorf("%s: dialed %q", host, d.addresses)
		}
	}
}

// The etcd of a control plane node that was removed may answer with old data.
func TestAnAPIServerThatHasLeftIsNotDialedAnyMore(t *testing.T) {
	d := &dialed{}
	config := &rest.Config{Host: "https://lb.example.com", Dial: d.dial}
	servers, err := operations.NewAPIServers(config)
	if err != nil {
		t.Fatal(err)
	}
	c := &operations.Cluster{APIServers: servers}
	m := operations.NewMirror(c, operations.NewCopy())
	findAt := func(addresses ...string) {
		c.Client = operationstest.NewClient(t, registered(6443, addresses...))
		if err := m.FindAPIServers(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, _ = config.Dial(t.Context(), "tcp", "lb.example.com:443")
	}
	findAt("10.0.0.1", "10.0.0.2")
	c.Redial()
	findAt("10.0.0.1", "10.0.0.2")
	findAt("10.0.0.2")
	if want := []string{"lb.example.com:443", "10.0.0.1:6443", "lb.example.com:443"}; !slices.Equal(d.addresses, want) {
		t.Errorf("dialed %q, want %q", d.addresses, want)
	}
}

// The certificate is verified for the host of the kubeconfig, whichever API server is dialed.
func TestAnotherAPIServerNeedsTheCertificateOfTheEndpoint(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	t.Cleanup(s.Close)
	for host, valid := range map[string]bool{"127.0.0.1": true, "127.0.0.9": false} {
		config := &rest.Config{Host: "https://" + host + ":1", Timeout: 5 * time.Second}
		config.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
		servers, err := operations.NewAPIServers(config)
		if err != nil {
			t.Fatal(err)
		}
		at := s.Listener.Addr().(*net.TCPAddr)
		c := &operations.Cluster{Client: operationstest.NewClient(t, registered(int32(at.Port), at.IP.String())), APIServers: servers}
		find(t, c)
		c.Redial()
		transport, err := rest.TransportFor(config)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		if valid != (err == nil) || !valid && !strings.Contains(err.Error(), "certificate is valid for") {
			t.Errorf("%s: %v", host, err)
		}
	}
}
