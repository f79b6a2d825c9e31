package observe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
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
	endpoint.Address = addressIn(g.host)
	if g.snapshot.Kubeadm != nil && g.snapshot.Kubeadm.Endpoint != "" {
		endpoint.Address = withPort(g.snapshot.Kubeadm.Endpoint, defaultPort) // kubeadm leaves the default out
	}
	host, _, _ := net.SplitHostPort(endpoint.Address)
	addresses, err := lookUp(ctx, host)
	if err == nil {
		endpoint.Holder, endpoint.Via, err = holderOf(g.snapshot.ControlPlane(), addresses)
	}
	if l := g.leases[kubeVIPLease]; endpoint.Via != cluster.ViaInterface && l.held && g.nodes[l.holder] != nil {
		endpoint.Holder, endpoint.Via = l.holder, cluster.ViaKubeVIP
		return nil
	}
	if err != nil && ctx.Err() == nil { // a name that only the cluster knows is out of reach
		g.gap(gapOf(cluster.PartEndpoint, "", err))
		return nil
	}
	return err
}

// addressIn is the host and port of a URL.
func addressIn(u *url.URL) string {
	if u.Scheme == "http" {
		return withPort(u.Host, "80")
	}
	return withPort(u.Host, "443")
}

// withPort adds a port to an address that has none. An IPv6 address may be in brackets or not.
func withPort(address, port string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), port)
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
//
// The nodes are those of the control plane: a worker must not be able to say that it holds the address, and so change in which order they go.
func holderOf(controlPlane []*cluster.Node, addresses []netip.Addr) (holder, via string, err error) {
	if len(addresses) != 1 || addresses[0].IsLoopback() {
		return "", "", nil
	}
	var reporting, owning []*cluster.Node
	for _, n := range controlPlane {
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
