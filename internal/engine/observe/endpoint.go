package observe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const (
	// kubeVIPLease is the Lease with which kube-vip's pods agree on who holds the address of the control plane.
	kubeVIPLease = "plndr-cp-lock"

	lookupPatience = 3 * time.Second
)

// readEndpoint finds where clients reach the API and which node holds that address, if one does: a load balancer outside the cluster is nobody's.
func (g *gathering) readEndpoint(ctx context.Context) error {
	endpoint := &g.snapshot.Endpoint
	endpoint.Address = g.host.Host
	if g.snapshot.Kubeadm != nil && g.snapshot.Kubeadm.Endpoint != "" {
		endpoint.Address = g.snapshot.Kubeadm.Endpoint
	}
	if _, _, err := net.SplitHostPort(endpoint.Address); err != nil {
		endpoint.Address = net.JoinHostPort(endpoint.Address, defaultPort) // kubeadm leaves the default out
	}
	host, _, _ := net.SplitHostPort(endpoint.Address)
	addresses, err := lookUp(ctx, host)
	if err == nil {
		endpoint.Holder, endpoint.Via, err = holderOf(g.snapshot.Nodes, addresses)
	}
	if l := g.leases[kubeVIPLease]; endpoint.Via != cluster.ViaInterface && l.held && g.nodes[l.holder] != nil {
		endpoint.Holder, endpoint.Via = l.holder, cluster.ViaKubeVIP
		return nil
	}
	return err
}

// lookUp finds the addresses of a host. A laptop may know others than the nodes do; that does no harm, since a holder is only one whose node has
// the very address.
func lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	if address, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{address.Unmap()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("looking up the API endpoint's name %s: %w", host, err)
	}
	for i := range found {
		found[i] = found[i].Unmap()
	}
	return found, nil
}

// holderOf finds the node that has the endpoint's address: on an interface, as its agent reports, else as its own. An endpoint with several
// addresses, as a DNS name for all control plane nodes has, is held by nobody in particular, and so is a loopback address.
func holderOf(nodes []cluster.Node, addresses []netip.Addr) (holder, via string, err error) {
	if len(addresses) != 1 || addresses[0].IsLoopback() {
		return "", "", nil
	}
	var reporting, owning []*cluster.Node
	for i := range nodes {
		n := &nodes[i]
		if n.Report != nil && has(n.Report.Addresses, addresses[0]) {
			reporting = append(reporting, n)
		}
		if has(n.Addresses, addresses[0]) {
			owning = append(owning, n)
		}
	}
	if len(reporting) > 1 { // a node that is down leaves its last report behind
		reporting = slices.DeleteFunc(reporting, func(n *cluster.Node) bool { return !n.IsReady() })
	}
	switch {
	case len(reporting) == 1:
		return reporting[0].Name, cluster.ViaInterface, nil
	case len(reporting) > 1:
		return "", "", fmt.Errorf("the nodes %s and %s both report the API endpoint's address %s on an interface: a report is old, "+
			"or the address is there twice", reporting[0].Name, reporting[1].Name, addresses[0])
	case len(owning) == 1:
		return owning[0].Name, cluster.ViaNodeAddress, nil
	default:
		return "", "", nil
	}
}

// has says whether an address is among those that a node tells, with or without their network.
func has(told []string, wanted netip.Addr) bool {
	return slices.ContainsFunc(told, func(text string) bool {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			return prefix.Addr().Unmap() == wanted
		}
		address, err := netip.ParseAddr(text)
		return err == nil && address.Unmap() == wanted
	})
}
