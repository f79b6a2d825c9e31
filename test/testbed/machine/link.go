package machine

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// EnsureBridge makes the bridge with the machine's address on it, or leaves it as it is.
func EnsureBridge(name string, address netip.Prefix) error {
	link, err := netlink.LinkByName(name)
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		link = &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: name}}
		err = netlink.LinkAdd(link)
	}
	if err != nil {
		return fmt.Errorf("making bridge %s: %w", name, err)
	}
	addr, err := netlink.ParseAddr(address.String())
	if err != nil {
		return fmt.Errorf("address of bridge %s: %w", name, err)
	}
	if err := netlink.AddrReplace(link, addr); err != nil {
		return fmt.Errorf("address of bridge %s: %w", name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("raising bridge %s: %w", name, err)
	}
	return nil
}

// DeleteLink deletes a link; one that is not there is fine.
func DeleteLink(name string) error {
	link, err := netlink.LinkByName(name)
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("finding link %s: %w", name, err)
	}
	// The kernel takes it away itself when the node's network goes, which may be now.
	if err := netlink.LinkDel(link); err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("deleting link %s: %w", name, err)
	}
	return nil
}

// SetLink raises or lowers the machine's end of a node's cable.
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

// LinkUp tells whether the link is there and raised.
func LinkUp(name string) bool {
	link, err := netlink.LinkByName(name)
	return err == nil && link.Attrs().RawFlags&1 != 0
}

// LinksWithPrefix names the machine's links that begin with prefix.
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

// DeleteLinks deletes the links whose names begin with prefix.
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
