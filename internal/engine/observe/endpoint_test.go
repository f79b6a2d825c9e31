package observe

import (
	"net/netip"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func TestHolderOf(t *testing.T) {
	node := func(name, own string, ready cluster.Answer, onInterfaces ...string) cluster.Node {
		n := cluster.Node{Name: name, Addresses: []string{own}, Ready: ready}
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
		"told with its network": {
			[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes, "10.0.0.100/32")}, []string{"10.0.0.100"}, "cp-1", cluster.ViaInterface, "",
		},
		"an IPv6 address, written differently": {
			[]cluster.Node{node("cp-1", "fd00::1", cluster.Yes, "fd00:0:0::64")}, []string{"fd00::64"}, "cp-1", cluster.ViaInterface, "",
		},
		"a node that is down reported it last": {
			[]cluster.Node{node("cp-1", "10.0.0.1", cluster.No, "10.0.0.100"), node("cp-2", "10.0.0.2", cluster.Yes, "10.0.0.100")},
			[]string{"10.0.0.100"},
			"cp-2", cluster.ViaInterface, "",
		},
		"two nodes have it": {
			[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes, "10.0.0.100"), node("cp-2", "10.0.0.2", cluster.Yes, "10.0.0.100")},
			[]string{"10.0.0.100"},
			"", "", "cp-1 and cp-2 both report the API endpoint's address 10.0.0.100",
		},
		"the address of the only control plane node": {
			[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes)}, []string{"10.0.0.1"}, "cp-1", cluster.ViaNodeAddress, "",
		},
		"a load balancer outside the cluster":    {[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes, "10.0.0.1")}, []string{"198.51.100.1"}, "", "", ""},
		"a name for all control plane nodes":     {[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes)}, []string{"10.0.0.1", "10.0.0.2"}, "", "", ""},
		"a proxy on each node's loopback":        {[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes, "127.0.0.1")}, []string{"127.0.0.1"}, "", "", ""},
		"a name that leads to no address at all": {[]cluster.Node{node("cp-1", "10.0.0.1", cluster.Yes)}, nil, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var addresses []netip.Addr
			for _, text := range test.addresses {
				addresses = append(addresses, netip.MustParseAddr(text))
			}
			holder, via, err := holderOf(test.nodes, addresses)
			if holder != test.holder || via != test.via {
				t.Errorf("the holder is %q via %q, want %q via %q", holder, via, test.holder, test.via)
			}
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("the error is %v, want %q", err, test.err)
			}
		})
	}
}
