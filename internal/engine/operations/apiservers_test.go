package operations_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

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

// request sends a request with the transport of a configuration.
func request(t *testing.T, config *rest.Config) error {
	t.Helper()
	through, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	host := config.Host
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, host, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := through.RoundTrip(r)
	if err == nil {
		err = answer.Body.Close()
	}
	return err
}

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
	c.Redial()
	_ = request(t, config) // the only one that is known
	find(t, c)
	caller := &rest.Config{Host: "https://lb.example.com"}
	if err := servers.Connect(caller); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		_, _ = request(t, config), request(t, caller)
		c.Redial()
	}
	want := []string{"lb.example.com:443"}
	for _, address := range []string{"lb.example.com:443", "10.0.0.1:6443", "10.0.0.2:6443", "[fd00::3]:6443", "lb.example.com:443"} {
		want = append(want, address, address)
	}
	if !slices.Equal(d.addresses, want) {
		t.Errorf("dialed %q\nwant   %q", d.addresses, want)
	}
}

// A check queries each API server at its own address.
func TestTheAddressOfThePlainConfigurationStays(t *testing.T) {
	d := &dialed{}
	config := &rest.Config{Host: "https://10.0.0.1:6443", Dial: d.dial}
	servers, err := operations.NewAPIServers(config)
	if err != nil {
		t.Fatal(err)
	}
	c := &operations.Cluster{Client: operationstest.NewClient(t, registered(6443, "10.0.0.1", "10.0.0.2")), APIServers: servers}
	find(t, c)
	c.Redial()
	_, _ = request(t, config), request(t, servers.Plain())
	if want := []string{"10.0.0.2:6443", "10.0.0.1:6443"}; !slices.Equal(d.addresses, want) {
		t.Errorf("dialed %q, want %q", d.addresses, want)
	}
}

// A proxy is told the name of the API server. It has no other address.
func TestAProxyIsDialedForEveryAPIServer(t *testing.T) {
	d := &dialed{}
	proxy := func(*http.Request) (*url.URL, error) {
		return &url.URL{Scheme: "http", Host: "proxy.example.com:3128"}, nil
	}
	config := &rest.Config{Host: "https://lb.example.com", Dial: d.dial, Proxy: proxy}
	servers, err := operations.NewAPIServers(config)
	if err != nil {
		t.Fatal(err)
	}
	c := &operations.Cluster{Client: operationstest.NewClient(t, registered(6443, "10.0.0.1")), APIServers: servers}
	find(t, c)
	for range 2 {
		_ = request(t, config)
		c.Redial()
	}
	if want := slices.Repeat([]string{"proxy.example.com:3128"}, 2); !slices.Equal(d.addresses, want) {
		t.Errorf("dialed %q", d.addresses)
	}
}

// One of several API servers is upgraded: the cluster is reachable meanwhile. None of them answers
// later.
func TestAnOutageOfOneOfSeveralAPIServersIsNone(t *testing.T) {
	for name, hangs := range map[string]bool{"closed connections": false, "no answers": true} {
		t.Run(name, func(t *testing.T) {
			config := &rest.Config{Host: "https://10.0.0.1:6443"}
			servers, err := operations.NewAPIServers(config)
			if err != nil {
				t.Fatal(err)
			}
			objects := operationstest.NewClient(t, registered(6443, "10.0.0.1", "10.0.0.2", "10.0.0.3"))
			find(t, &operations.Cluster{Client: objects, APIServers: servers})
			down := map[string]*atomic.Bool{"": {}, "10.0.0.2:6443": {}, "10.0.0.3:6443": {}}
			fails := func(ctx context.Context) error {
				if !down[servers.InUse()].Load() {
					return nil
				}
				if hangs {
					<-ctx.Done()
					return ctx.Err()
				}
				return net.ErrClosed
			}
			c := interceptor.NewClient(objects, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					if err := fails(ctx); err != nil {
						return err
					}
					return c.Get(ctx, key, object, options...)
				},
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if err := fails(ctx); err != nil {
						return err
					}
					return c.List(ctx, list, options...)
				},
			})
			synctest.Test(t, func(t *testing.T) {
				var outages atomic.Int32
				var m *operations.Mirror
				m = mirrorOf(c, func(operations.Changes) {
					m.Read(func(c *operations.Copy) {
						if !c.API.UnreachableSince.IsZero() {
							outages.Add(1)
						}
					})
				})
				m.APIServers = servers
				go m.Run(t.Context())
				for _, address := range []string{"", "10.0.0.2:6443"} {
					down[address].Store(true)
					time.Sleep(20 * time.Second)
					synctest.Wait()
				}
				if outages.Load() != 0 || servers.InUse() != "10.0.0.3:6443" {
					t.Errorf("%d outages, and %q is in use", outages.Load(), servers.InUse())
				}
				down["10.0.0.3:6443"].Store(true)
				time.Sleep(3 * time.Second)
				synctest.Wait()
				if outages.Load() == 0 {
					t.Error("the outage of all is not reported")
				}
			})
		})
	}
}

// The addresses of API servers behind a load balancer are often unreachable from a laptop. Nothing
// but the load balancer answers there, which closes connections now and then.
func TestAClosedConnectionIsNoOutageIfNoOtherAPIServerIsReachable(t *testing.T) {
	config := &rest.Config{Host: "https://lb.example.com"}
	servers, err := operations.NewAPIServers(config)
	if err != nil {
		t.Fatal(err)
	}
	objects := operationstest.NewClient(t, registered(6443, "10.0.0.1", "10.0.0.2", "10.0.0.3"))
	find(t, &operations.Cluster{Client: objects, APIServers: servers})
	var closed atomic.Int32
	c := interceptor.NewClient(objects, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if servers.InUse() != "" {
				<-ctx.Done()
				return ctx.Err()
			}
			if closed.Add(-1) >= 0 {
				return net.ErrClosed
			}
			return c.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if servers.InUse() != "" {
				<-ctx.Done()
				return ctx.Err()
			}
			return c.List(ctx, list, options...)
		},
	})
	synctest.Test(t, func(t *testing.T) {
		var outages atomic.Int32
		var m *operations.Mirror
		m = mirrorOf(c, func(operations.Changes) {
			m.Read(func(c *operations.Copy) {
				if !c.API.UnreachableSince.IsZero() {
					outages.Add(1)
				}
			})
		})
		m.APIServers = servers
		go m.Run(t.Context())
		time.Sleep(5 * time.Second)
		closed.Store(1)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if outages.Load() != 0 || servers.InUse() != "" {
			t.Errorf("%d reports of an outage, and %q is in use", outages.Load(), servers.InUse())
		}
	})
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
		_ = request(t, after)
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
			_ = request(t, config)
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
		_ = request(t, config)
	}
	findAt("10.0.0.1", "10.0.0.2")
	c.Redial()
	findAt("10.0.0.1", "10.0.0.2")
	findAt("10.0.0.2")
	if want := []string{"lb.example.com:443", "10.0.0.1:6443", "lb.example.com:443"}; !slices.Equal(d.addresses, want) {
		t.Errorf("dialed %q, want %q", d.addresses, want)
	}
}

// The certificate of each API server is valid for its own address and for kubernetes.default.svc,
// but not for the addresses of the others. The one of a kubelet is valid for its address alone.
func TestAnotherAPIServerProvesThatItIsOne(t *testing.T) {
	authority := newAuthority(t)
	first := authority.serve(t, "127.0.0.1:0", "127.0.0.1", "kubernetes.default.svc")
	_, port, err := net.SplitHostPort(first.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	authority.serve(t, "127.0.0.2:"+port, "127.0.0.2", "kubernetes.default.svc")
	authority.serve(t, "127.0.0.3:"+port, "127.0.0.3") // a kubelet
	newAuthority(t).serve(t, "127.0.0.4:"+port, "127.0.0.1", "127.0.0.4", "kubernetes.default.svc")

	config := &rest.Config{Host: "https://" + first.Addr().String(), Timeout: 5 * time.Second}
	config.CAData = authority.pem
	servers, err := operations.NewAPIServers(config)
	if err != nil {
		t.Fatal(err)
	}
	c := &operations.Cluster{Client: operationstest.NewClient(t, registered(int32(number), "127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")), APIServers: servers}
	find(t, c)
	for i, want := range []string{"", "", "match kubernetes.default.svc", "unknown authority", ""} { // the first one again at the end
		err := request(t, config)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("the API server %d: %v, want %q", i+1, err, want)
		}
		c.Redial()
	}
}

// A connection authenticates its client with the certificate that it began with. Once that is
// replaced, the API server would refuse requests when it expires.
func TestConnectionsToAnotherAPIServerUseTheLatestClientCertificate(t *testing.T) {
	refresh := transport.CertCallbackRefreshDuration
	transport.CertCallbackRefreshDuration = 10 * time.Millisecond
	t.Cleanup(func() { transport.CertCallbackRefreshDuration = refresh })
	authority := newAuthority(t)
	at := authority.serve(t, "127.0.0.2:0", "127.0.0.2", "kubernetes.default.svc")
	_, port, err := net.SplitHostPort(at.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	config := &rest.Config{Host: "https://127.0.0.1:" + port}
	config.CAData, config.CertFile, config.KeyFile = authority.pem, filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key")
	authority.client(t, config, 7)
	servers, err := operations.NewAPIServers(config)
	if err != nil {
		t.Fatal(err)
	}
	c := &operations.Cluster{Client: operationstest.NewClient(t, registered(int32(number), "127.0.0.1", "127.0.0.2")), APIServers: servers}
	find(t, c)
	c.Redial()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	serial := func() string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil {
			return err.Error() // the connection was closed
		}
		defer answer.Body.Close()
		return answer.Header.Get("Client-Serial")
	}
	if got := serial(); got != "7" {
		t.Fatalf("the client is %s", got)
	}
	authority.client(t, config, 8)
	for until := time.Now().Add(10 * time.Second); serial() != "8"; runtime.Gosched() {
		if time.Now().After(until) {
			t.Fatalf("the client is still %s", serial())
		}
	}
}

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

// client writes a certificate of a client and its key to the files of a configuration.
func (a *authority) client(t *testing.T, config *rest.Config, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{config.CertFile: {Type: "CERTIFICATE", Bytes: certificate}, config.KeyFile: {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})}
}

// serve answers requests at an address with a certificate for these names.
func (a *authority) serve(t *testing.T, address string, names ...string) net.Listener {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	at, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, certificate := range r.TLS.PeerCertificates {
			w.Header().Set("Client-Serial", certificate.SerialNumber.String())
		}
		w.WriteHeader(http.StatusOK)
	}))
	_ = s.Listener.Close()
	s.Listener, s.TLS = at, &tls.Config{MinVersion: tls.VersionTLS12, ClientAuth: tls.RequestClientCert, Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return at
}
