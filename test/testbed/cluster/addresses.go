package cluster

import (
	"fmt"
	"net/netip"
)

// The address plan. Each cluster has a number i, and each of its nodes a number n:
//
//	10.210.i.0/24      nodes; .1 is the bridge and load balancer, .2 the virtual IP, .(10+n) nodes
//	10.(128+i).n.0/24  Pods of node n
//	10.96.0.0/16       Services, the same in every cluster: they never leave a node
//
// Nothing is routed out of the machine.
const (
	maxClusters   = 64
	serviceSubnet = "10.96.0.0/16"
	apiPort       = 6443
)

func (s *state) gateway() netip.Addr {
	return netip.AddrFrom4([4]byte{10, 210, byte(s.Number), 1})
}

func (s *state) bridgeAddress() netip.Prefix { return netip.PrefixFrom(s.gateway(), 24) }

func (s *state) podSubnet() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(128 + s.Number), 0, 0}), 16)
}

func (s *state) nodeAddress(node int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 210, byte(s.Number), byte(10 + node)})
}

func (s *state) podRange(node int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(128 + s.Number), byte(node), 0}), 24)
}

func (s *state) virtualIP() netip.Addr {
	return netip.AddrFrom4([4]byte{10, 210, byte(s.Number), 2})
}

// endpoint returns the control plane endpoint: the virtual IP, or the load balancer.
func (s *state) endpoint() string {
	host := s.gateway()
	if s.VIP != "" {
		host = s.virtualIP()
	}
	return fmt.Sprintf("%s:%d", host, apiPort)
}

// Link names have at most 15 bytes, so they contain numbers instead of names.
const (
	bridgePrefix = "rtb"
	// machinePrefix is the prefix of the systemd-nspawn machine names of nodes.
	machinePrefix = "rt"
	// cablePrefix is the prefix of systemd-nspawn for a link on a bridge.
	cablePrefix = "vb-"
)

func bridgeName(number int) string { return fmt.Sprintf("%s%d", bridgePrefix, number) }

func (s *state) machineName(node int) string {
	return fmt.Sprintf("%s%dn%d", machinePrefix, s.Number, node)
}

// cable returns the name of the machine's end of a node's link.
func (s *state) cable(node int) string { return cablePrefix + s.machineName(node) }
