package cluster

import (
	"net/netip"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestEndpointHolder(t *testing.T) {
	node := func(name, own string, ready Answer, onInterfaces ...string) Node {
		n := Node{Name: name, ControlPlane: strings.HasPrefix(name, "cp-"), Addresses: []string{own}, Ready: ready}
		if onInterfaces != nil {
			n.Report = &refitv1alpha1.NodeReportStatus{Addresses: onInterfaces}
		}
		return n
	}
	for name, test := range map[string]struct {
		nodes       []Node
		addresses   []string
		holder, via string
	}{
		"a virtual address on an interface": {
			[]Node{node("cp-1", "10.0.0.1", Yes, "10.0.0.1"), node("cp-2", "10.0.0.2", Yes, "10.0.0.2", "10.0.0.100")},
			[]string{"10.0.0.100"},
			"cp-2", ViaInterface,
		},
		"reported with a prefix length": {
			[]Node{node("cp-1", "10.0.0.1", Yes, "10.0.0.100/32")}, []string{"10.0.0.100"}, "cp-1", ViaInterface,
		},
		"an IPv6 address, written differently": {
			[]Node{node("cp-1", "fd00::1", Yes, "fd00:0:0::64")}, []string{"fd00::64"}, "cp-1", ViaInterface,
		},
		"the last report of a node that is down": {
			[]Node{node("cp-1", "10.0.0.1", No, "10.0.0.100"), node("cp-2", "10.0.0.2", Yes, "10.0.0.100")},
			[]string{"10.0.0.100"},
			"cp-2", ViaInterface,
		},
		"two nodes have it": {
			[]Node{node("cp-1", "10.0.0.1", Yes, "10.0.0.100"), node("cp-2", "10.0.0.2", Yes, "10.0.0.100")},
			[]string{"10.0.0.100"},
			"", "",
		},
		"a worker reports it, too": {
			[]Node{node("cp-1", "10.0.0.1", Yes, "10.0.0.100"), node("worker-1", "10.0.0.100", Yes, "10.0.0.100")},
			[]string{"10.0.0.100"},
			"cp-1", ViaInterface,
		},
		"only a worker reports it": {
			[]Node{node("cp-1", "10.0.0.1", Yes), node("worker-1", "10.0.0.100", Yes, "10.0.0.100")},
			[]string{"10.0.0.100"},
			"", "",
		},
		"the address of the only control plane node": {
			[]Node{node("cp-1", "10.0.0.1", Yes)}, []string{"10.0.0.1"}, "cp-1", ViaNodeAddress,
		},
		"a load balancer outside the cluster": {[]Node{node("cp-1", "10.0.0.1", Yes, "10.0.0.1")}, []string{"198.51.100.1"}, "", ""},
		"a name for all control plane nodes":  {[]Node{node("cp-1", "10.0.0.1", Yes)}, []string{"10.0.0.1", "10.0.0.2"}, "", ""},
		"a proxy on each node's loopback":     {[]Node{node("cp-1", "10.0.0.1", Yes, "127.0.0.1")}, []string{"127.0.0.1"}, "", ""},
		"a name without addresses":            {[]Node{node("cp-1", "10.0.0.1", Yes)}, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var addresses []netip.Addr
			for _, text := range test.addresses {
				addresses = append(addresses, netip.MustParseAddr(text))
			}
			s := &Snapshot{Nodes: test.nodes, Endpoint: Endpoint{IPs: addresses}}
			if holder, via := s.EndpointHolder(); holder != test.holder || via != test.via {
				t.Errorf("the holder is %q via %q, want %q via %q", holder, via, test.holder, test.via)
			}
		})
	}
}
