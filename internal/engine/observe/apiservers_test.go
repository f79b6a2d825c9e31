package observe

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func TestAddressOf(t *testing.T) {
	flags := func(flags map[string]string) map[string]cluster.StaticPod {
		return map[string]cluster.StaticPod{apiServerComponent: {Flags: flags}}
	}
	for name, test := range map[string]struct {
		node       cluster.Node
		advertised string
		want       string
	}{
		"annotation of kubeadm": {cluster.Node{Addresses: []string{"10.0.0.1"}}, "10.1.0.1:6444", "10.1.0.1:6444"},
		"flags":                 {cluster.Node{Addresses: []string{"10.0.0.1"}, Static: flags(map[string]string{"advertise-address": "10.1.0.1", "secure-port": "6444"})}, "", "10.1.0.1:6444"},
		"address of the node":   {cluster.Node{Addresses: []string{"10.0.0.1"}}, "", "10.0.0.1:6443"},
		"an IPv6 address":       {cluster.Node{Addresses: []string{"fd00::1"}}, "", "[fd00::1]:6443"},
		"no address":            {cluster.Node{}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := addressOf(&test.node, test.advertised); got != test.want {
				t.Errorf("it is at %q, want %q", got, test.want)
			}
		})
	}
}

func TestRoutesTo(t *testing.T) {
	server := cluster.APIServer{Node: "cp-1", Address: "10.0.0.1:6444"}
	for name, test := range map[string]struct {
		direct *http.Client
		alone  bool
		want   []string
	}{
		"one of several":                {http.DefaultClient, false, []string{"address https://10.0.0.1:6444", "pod proxy https://api.example.com/prefix/api/v1/namespaces/kube-system/pods/https:kube-apiserver-cp-1:6444/proxy"}},
		"the only one":                  {http.DefaultClient, true, []string{"address https://10.0.0.1:6444", "endpoint https://api.example.com/prefix", "pod proxy https://api.example.com/prefix/api/v1/namespaces/kube-system/pods/https:kube-apiserver-cp-1:6444/proxy"}},
		"without the CA of the cluster": {nil, false, []string{"pod proxy https://api.example.com/prefix/api/v1/namespaces/kube-system/pods/https:kube-apiserver-cp-1:6444/proxy"}},
	} {
		t.Run(name, func(t *testing.T) {
			obs := newObservation(&Reader{host: &url.URL{Scheme: "https", Host: "api.example.com", Path: "/prefix/"}, direct: test.direct}, "", &meter{})
			var got []string
			for _, w := range obs.routesTo(server, test.alone) {
				got = append(got, w.via+" "+w.base)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("the routes are %q, want %q", got, test.want)
			}
		})
	}
}

func TestCredentialsAreSentOnlyToServersWithACertificateOfTheCluster(t *testing.T) {
	for name, test := range map[string]struct {
		tls    rest.TLSClientConfig
		direct bool
	}{
		"the CA of the cluster": {rest.TLSClientConfig{CAData: certificate(t, time.Now())}, true},
		"a public CA":           {rest.TLSClientConfig{}, false},
		"no verification":       {rest.TLSClientConfig{Insecure: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := newDirect(&rest.Config{Host: "https://api.example.com", BearerToken: "sesame", TLSClientConfig: test.tls})
			if err != nil || (client != nil) != test.direct {
				t.Errorf("there is a direct client: %t (%v)", client != nil, err)
			}
		})
	}
}

// The connections of refit serve go to another API server while one does not respond. It must not
// answer for the one that is queried.
func TestAnAPIServerIsQueriedWithItsOwnConfiguration(t *testing.T) {
	used := func(name string, names *[]string) *rest.Config {
		return &rest.Config{Host: "https://10.0.0.1:6443", TLSClientConfig: rest.TLSClientConfig{CAData: certificate(t, time.Now())}, Dial: func(context.Context, string, string) (net.Conn, error) {
			*names = append(*names, name)
			return nil, net.ErrClosed
		}}
	}
	for want, options := range map[string]func(*[]string) Options{
		"shared": func(*[]string) Options { return Options{} },
		"own":    func(names *[]string) Options { return Options{Direct: used("own", names)} },
	} {
		var names []string
		reader, err := New(used("shared", &names), options(&names))
		if err != nil {
			t.Fatal(err)
		}
		ask := func(client *http.Client) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://10.0.0.1:6443/version", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if response, err := client.Do(request); err == nil {
				_ = response.Body.Close()
			}
		}
		ask(reader.http)
		ask(reader.direct)
		if !slices.Equal(names, []string{"shared", want}) {
			t.Errorf("used %q, want the direct client to use %s", names, want)
		}
	}
}

func TestFailingChecks(t *testing.T) {
	const output = "[+]ping ok\n[-]etcd failed: reason withheld\n[+]log ok\n[-]informer-sync failed: reason withheld\nreadyz check failed\n"
	if got := failingChecks(output); !slices.Equal(got, []string{"etcd", "informer-sync"}) {
		t.Errorf("the failing checks are %q", got)
	}
}

func TestServerThatRefusesConnections(t *testing.T) {
	tests := []struct {
		situation string
		other     string // the response of another server
		refusing  bool
		want      cluster.Answer
	}{
		{"another one responds at its own address", cluster.ViaAddress, true, cluster.No},
		{"another one responds at its own address, and this one times out", cluster.ViaAddress, false, cluster.Unknown},
		{"no address is reachable", cluster.ViaPodProxy, true, cluster.Unknown},
	}
	for _, test := range tests {
		t.Run(test.situation, func(t *testing.T) {
			servers := []cluster.APIServer{{Node: "cp-1", Via: test.other, Ready: cluster.Yes}, {Node: "cp-2"}}
			markRefusing(servers, []bool{false, test.refusing})
			if got := servers[1].Ready; got != test.want || servers[0].Ready != cluster.Yes {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
