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
	// kubeVIPLease is the Lease of the kube-vip pod that holds the address of the control plane.
	kubeVIPLease = "plndr-cp-lock"

	lookupTimeout = 3 * time.Second
)

// readEndpoint finds the endpoint of the API and the node that holds its address, if any: a load
// balancer is outside of the cluster.
func (obs *observation) readEndpoint(ctx context.Context) error {
	endpoint := &obs.snapshot.Endpoint
	endpoint.Address = addressIn(obs.host)
	if obs.snapshot.Kubeadm != nil && obs.snapshot.Kubeadm.Endpoint != "" {
		// Kubeadm omits the default port.
		endpoint.Address = withPort(obs.snapshot.Kubeadm.Endpoint, defaultPort)
	}
	host, _, _ := net.SplitHostPort(endpoint.Address)
	addresses, err := resolve(ctx, host)
	if err == nil {
		endpoint.Holder, endpoint.Via, err = holderOf(obs.snapshot.ControlPlane(), addresses)
	}
	if l := obs.leases[kubeVIPLease]; endpoint.Via != cluster.ViaInterface && l.held && obs.nodes[l.holder] != nil {
		endpoint.Holder, endpoint.Via = l.holder, cluster.ViaKubeVIP
		return nil
	}
	if err != nil && ctx.Err() == nil { // a name may be resolvable only in the cluster
		obs.gap(gapOf(cluster.PartEndpoint, "", err))
		return nil
	}
	return err
}

// addressIn returns the host and port of a URL.
func addressIn(u *url.URL) string {
	if u.Scheme == "http" {
		return withPort(u.Host, "80")
	}
	return withPort(u.Host, "443")
}

// withPort adds a port to an address without one. An IPv6 address may have brackets.
func withPort(address, port string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), port)
}

// resolve returns the addresses of a host. They may differ between a laptop and the nodes, which is
// harmless: a holder must have the same address.
func resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if address, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{address.Unmap()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("cannot resolve the API endpoint %s: %w", host, err)
	}
	for i := range found {
		found[i] = found[i].Unmap()
	}
	return found, nil
}

// holderOf returns the node that holds the address of the endpoint: on an interface, as its agent
// reports, else as its node address. A name with several addresses, such as one for all control
// plane nodes, has no holder, and neither has a loopback address.
//
// Only control plane nodes count: a worker must not be able to change their order with a false
// report.
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
	if len(reporting) > 1 { // the last report of a node that is down stays
		reporting = slices.DeleteFunc(reporting, func(n *cluster.Node) bool { return !n.IsReady() })
	}
	switch {
	case len(reporting) == 1:
		return reporting[0].Name, cluster.ViaInterface, nil
	case len(reporting) > 1:
		return "", "", fmt.Errorf("nodes %s and %s both report the address %s of the API endpoint on an interface: "+
			"a report is outdated, or the address is assigned twice", reporting[0].Name, reporting[1].Name, addresses[0])
	case len(owning) == 1:
		return owning[0].Name, cluster.ViaNodeAddress, nil
	default:
		return "", "", nil
	}
}

// has reports whether an address is among those of a node, with or without a prefix length.
func has(addresses []string, wanted netip.Addr) bool {
	return slices.ContainsFunc(addresses, func(text string) bool {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			return prefix.Addr().Unmap() == wanted
		}
		address, err := netip.ParseAddr(text)
		return err == nil && address.Unmap() == wanted
	})
}
