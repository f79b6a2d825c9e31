package machine

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// EnsureBridge creates the bridge with the machine's address, unless it exists.
func EnsureBridge(name string, address netip.Prefix) error {
	link, err := netlink.LinkByName(name)
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		link = &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: name}}
		err = netlink.LinkAdd(link)
	}
	if err != nil {
		return fmt.Errorf("creating bridge %s: %w", name, err)
	}
	addr, err := netlink.ParseAddr(address.String())
	if err != nil {
		return fmt.Errorf("address of bridge %s: %w", name, err)
	}
	if err := netlink.AddrReplace(link, addr); err != nil {
		return fmt.Errorf("address of bridge %s: %w", name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("enabling bridge %s: %w", name, err)
	}
	return nil
}

// DeleteLink deletes a link, if it exists.
func DeleteLink(name string) error {
	link, err := netlink.LinkByName(name)
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("finding link %s: %w", name, err)
	}
	// The kernel deletes it with the network namespace of the node, possibly at this moment.
	if err := netlink.LinkDel(link); err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("deleting link %s: %w", name, err)
	}
	return nil
}

// SetLink enables or disables the machine's end of a node's link.
func SetLink(name string, up bool) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("finding link %s: %w", name, err)
	}
	set := netlink.LinkSetDown
	if up {
		set = netlink.LinkSetUp
	}
	if err := set(link); err != nil {
		return fmt.Errorf("setting link %s: %w", name, err)
	}
	return nil
}

// LinkUp reports whether the link exists and is up.
func LinkUp(name string) bool {
	link, err := netlink.LinkByName(name)
	return err == nil && link.Attrs().RawFlags&1 != 0
}

// LinksWithPrefix returns the names of the links with a prefix.
func LinksWithPrefix(prefix string) ([]string, error) {
	links, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("listing links: %w", err)
	}
	var names []string
	for _, l := range links {
		if strings.HasPrefix(l.Attrs().Name, prefix) {
			names = append(names, l.Attrs().Name)
		}
	}
	return names, nil
}

// DeleteLinks deletes the links with a prefix.
func DeleteLinks(prefix string) error {
	links, err := LinksWithPrefix(prefix)
	if err != nil {
		return err
	}
	var errs []error
	for _, link := range links {
		errs = append(errs, DeleteLink(link))
	}
	return errors.Join(errs...)
}
