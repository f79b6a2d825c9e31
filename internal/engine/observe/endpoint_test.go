package observe

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func TestHolderOf(t *testing.T) {
	node := func(name, own string, ready cluster.Answer, onInterfaces ...string) cluster.Node {
		n := cluster.Node{Name: name, ControlPlane: strings.HasPrefix(name, "cp-"), Addresses: []string{own}, Ready: ready}
		if onInterfaces != nil {
			n.Report = &refitv1alpha1.NodeReportStatus{Addresses: onInterfaces}
		}
		return n
	}
	for name, test := range map[string]struct {
		nodes       []cluster.Node
		addresses   []string
		holder, via string
		err         string
	}{
		"a virtual address on an interface": {
			[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes, "10.0.0.1"), node("cp-2", "10.0.0.2", cluster.Yes, "10.0.0.2", "10.0.0.100")},
			[]string{"10.0.0.100"},
			"cp-2", cluster.ViaInterface, "",
		},
		"reported with a prefix length": {
			[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes, "10.0.0.100/32")}, []string{"10.0.0.100"}, "cp-1", cluster.ViaInterface, "",
		},
		"an IPv6 address, written differently": {
			[]cluster.Node{node("cp-1", "fd00::1", cluster.Yes, "fd00:0:0::64")}, []string{"fd00::64"}, "cp-1", cluster.ViaInterface, "",
		},
		"the last report of a node that is down": {
			[]cluster.Node{node("cp-1", "10.0.0.1", cluster.No, "10.0.0.100"), node("cp-2", "10.0.0.2", cluster.Yes, "10.0.0.100")},
			[]string{"10.0.0.100"},
			"cp-2", cluster.ViaInterface, "",
		},
		"two nodes have it": {
			[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes, "10.0.0.100"), node("cp-2", "10.0.0.2", cluster.Yes, "10.0.0.100")},
			[]string{"10.0.0.100"},
			"", "", "cp-1 and cp-2 both report the address 10.0.0.100",
		},
		"a worker reports it, too": {
			[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes, "10.0.0.100"), node("worker-1", "10.0.0.100", cluster.Yes, "10.0.0.100")},
			[]string{"10.0.0.100"},
			"cp-1", cluster.ViaInterface, "",
		},
		"only a worker reports it": {
			[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes), node("worker-1", "10.0.0.100", cluster.Yes, "10.0.0.100")},
			[]string{"10.0.0.100"},
			"", "", "",
		},
		"the address of the only control plane node": {
			[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes)}, []string{"10.0.0.1"}, "cp-1", cluster.ViaNodeAddress, "",
		},
		"a load balancer outside the cluster": {[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes, "10.0.0.1")}, []string{"198.51.100.1"}, "", "", ""},
		"a name for all control plane nodes":  {[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes)}, []string{"10.0.0.1", "10.0.0.2"}, "", "", ""},
		"a proxy on each node's loopback":     {[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes, "127.0.0.1")}, []string{"127.0.0.1"}, "", "", ""},
		"a name without addresses":            {[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes)}, nil, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var addresses []netip.Addr
			for _, text := range test.addresses {
				addresses = append(addresses, netip.MustParseAddr(text))
			}
			holder, via, err := holderOf((&cluster.Snapshot{Nodes: test.nodes}).ControlPlane(), addresses)
			if holder != test.holder || via != test.via {
				t.Errorf("the holder is %q via %q, want %q via %q", holder, via, test.holder, test.via)
			}
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("the error is %v, want %q", err, test.err)
			}
		})
	}
}

func TestEndpointAddress(t *testing.T) {
	for name, test := range map[string]struct{ host, kubeadm, want string }{
		"a kubeconfig with a port":                      {"https://10.0.0.1:6443", "", "10.0.0.1:6443"},
		"a kubeconfig without a port":                   {"https://10.0.0.1", "", "10.0.0.1:443"},
		"a kubeconfig without a port and TLS":           {"http://10.0.0.1", "", "10.0.0.1:80"},
		"a kubeconfig with an IPv6 address":             {"https://[fd00::1]", "", "[fd00::1]:443"},
		"a kubeconfig with an IPv6 address and a port":  {"https://[fd00::1]:6443", "", "[fd00::1]:6443"},
		"kubeadm without a port":                        {"https://10.0.0.1", "10.0.0.100", "10.0.0.100:6443"},
		"kubeadm with an IPv6 address":                  {"https://10.0.0.1", "[fd00::64]", "[fd00::64]:6443"},
		"kubeadm with an IPv6 address without brackets": {"https://10.0.0.1", "fd00::64", "[fd00::64]:6443"},
	} {
		t.Run(name, func(t *testing.T) {
			host, err := url.Parse(test.host)
			if err != nil {
				t.Fatal(err)
			}
			obs := newObservation(&Reader{host: host}, "", &meter{})
			if test.kubeadm != "" {
				obs.snapshot.Kubeadm = &cluster.Kubeadm{Endpoint: test.kubeadm}
			}
			if err := obs.readEndpoint(t.Context()); err != nil || obs.snapshot.Endpoint.Address != test.want {
				t.Errorf("it is at %q, want %q (%v)", obs.snapshot.Endpoint.Address, test.want, err)
			}
		})
	}
}

func TestUnresolvableEndpointIsUnreachable(t *testing.T) {
	obs := newObservation(&Reader{host: &url.URL{Scheme: "https", Host: "api.invalid"}}, "", &meter{})
	err := obs.run(t.Context(), reader{cluster.PartEndpoint, "holder of the API endpoint", (*observation).readEndpoint})
	if gap, found := obs.snapshot.Gap(cluster.PartEndpoint); err != nil || !found || gap.Kind != cluster.GapUnreachable {
		t.Errorf("the gaps are %+v (%v)", obs.snapshot.Gaps, err)
	}
}
