package cluster

import (
	"net/netip"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// EndpointHolder returns the node that holds the address of the endpoint, and how that is known: on
// an interface, as its agent reports, else as its node address. There is none if no node or more
// than one has it.
func (s *Snapshot) EndpointHolder() (holder, via string) {
	if holders := s.EndpointHolders(); len(holders) > 0 {
		if len(holders) > 1 {
			return "", ""
		}
		return holders[0].Name, ViaInterface
	}
	address, single := s.endpointIP()
	if !single {
		return "", ""
	}
	for _, n := range s.ControlPlane() {
		if !hasAddress(n.Addresses, address) {
			continue
		}
		if holder != "" {
			return "", ""
		}
		holder, via = n.Name, ViaNodeAddress
	}
	return holder, via
}

// EndpointHolders returns the control plane nodes whose agents report the address of the endpoint
// on an interface. The last report of a node that is not ready counts only if no other node has
// the address.
//
// Only control plane nodes count: a worker must not be able to change their order with a false
// report.
func (s *Snapshot) EndpointHolders() []*Node {
	address, single := s.endpointIP()
	if !single {
		return nil
	}
	var holders []*Node
	for _, n := range s.ControlPlane() {
		if n.Report != nil && hasAddress(n.Report.Addresses, address) {
			holders = append(holders, n)
		}
	}
	if len(holders) > 1 {
		holders = slices.DeleteFunc(holders, func(n *Node) bool { return !n.IsReady() })
	}
	return holders
}

// VirtualIP returns how a control plane node moves the address of the endpoint to itself and to
// others, nil if its agent does not report that.
func (s *Snapshot) VirtualIP(n *Node) *refitv1alpha1.VirtualIPFacts {
	address, single := s.endpointIP()
	if n.Report == nil || !single {
		return nil
	}
	for i := range n.Report.VirtualIPs {
		facts := &n.Report.VirtualIPs[i]
		if facts.Address == s.Endpoint.Host() || hasAddress([]string{facts.Address}, address) {
			return facts
		}
	}
	return nil
}

// HoldsVirtually reports whether a control plane node has the address of the endpoint on an
// interface, in addition to its own addresses.
func (s *Snapshot) HoldsVirtually(n *Node) bool {
	address, single := s.endpointIP()
	return single && slices.Contains(s.EndpointHolders(), n) && !hasAddress(n.Addresses, address)
}

// Host is the host of the endpoint, without its port.
func (e *Endpoint) Host() string {
	host, _ := e.split()
	return host
}

// Port is the port of the endpoint.
func (e *Endpoint) Port() string {
	_, port := e.split()
	return port
}

func (e *Endpoint) split() (host, port string) {
	at := strings.LastIndexByte(e.Address, ':')
	if at < 0 {
		return e.Address, ""
	}
	return strings.Trim(e.Address[:at], "[]"), e.Address[at+1:]
}

// endpointIP is the address of the endpoint. A name with several addresses, such as one for all
// control plane nodes, is held by no node, and neither is a loopback address.
func (s *Snapshot) endpointIP() (address netip.Addr, single bool) {
	if len(s.Endpoint.IPs) != 1 || s.Endpoint.IPs[0].IsLoopback() {
		return netip.Addr{}, false
	}
	return s.Endpoint.IPs[0], true
}

// hasAddress reports whether an address is among those of a node, with or without a prefix length.
func hasAddress(addresses []string, wanted netip.Addr) bool {
	return slices.ContainsFunc(addresses, func(text string) bool {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			return prefix.Addr().Unmap() == wanted
		}
		address, err := netip.ParseAddr(text)
		return err == nil && address.Unmap() == wanted
	})
}
