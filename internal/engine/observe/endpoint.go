package observe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
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
	var err error
	endpoint.IPs, err = resolve(ctx, host)
	endpoint.Holder, endpoint.Via = obs.snapshot.EndpointHolder()
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
