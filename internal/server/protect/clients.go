package protect

import (
	"context"
	"net/netip"
)

// Client identifies the client of a request in limits.
func Client(ctx context.Context) string { return network(Remote(ctx)) }

// network returns the address of a client, or the network of an IPv6 address: a host has 2^64 of
// these, and would have a limit for each.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if ip = ip.Unmap(); ip.Is4() {
		return ip.String()
	}
	out, _ := ip.WithZone("").Prefix(64) // an IPv6 address has 128 bits
	return out.String()
}
