package machine

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
)

// EnsureRoute routes a range of addresses over a link to a gateway.
func EnsureRoute(link string, to netip.Prefix, gateway netip.Addr) error {
	found, err := netlink.LinkByName(link)
	if err != nil {
		return fmt.Errorf("finding link %s: %w", link, err)
	}
	route := &netlink.Route{
		LinkIndex: found.Attrs().Index, Gw: gateway.AsSlice(),
		Dst: &net.IPNet{IP: to.Masked().Addr().AsSlice(), Mask: net.CIDRMask(to.Bits(), to.Addr().BitLen())},
	}
	if err := netlink.RouteReplace(route); err != nil {
		return fmt.Errorf("routing %s over %s: %w", to, link, err)
	}
	return nil
}
