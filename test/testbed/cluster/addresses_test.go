package cluster

import (
	"net/netip"
	"testing"
)

// The address plan must separate every node, Pod range and link of all possible clusters, with link
// names of at most 15 bytes.
func TestNodesOfAllClustersHaveDistinctAddressesAndLinks(t *testing.T) {
	seen := map[string]string{}
	claim := func(what, who string) {
		if other, taken := seen[what]; taken {
			t.Fatalf("%s and %s share %s", who, other, what)
		}
		seen[what] = who
	}
	services := netip.MustParsePrefix(serviceSubnet)
	for number := range maxClusters {
		s := &state{Number: number}
		claim(bridgeName(number), bridgeName(number))
		claim(s.gateway().String(), bridgeName(number))
		for node := 1; node <= maxNodes; node++ {
			who := s.machineName(node)
			claim(s.nodeAddress(node).String(), who)
			claim(s.podRange(node).String(), who)
			claim(s.cable(node), who)
			if len(s.cable(node)) > 15 {
				t.Errorf("the link name %s is too long", s.cable(node))
			}
			if !s.bridgeAddress().Contains(s.nodeAddress(node)) || !s.podSubnet().Overlaps(s.podRange(node)) {
				t.Errorf("%s is outside the ranges of its cluster", who)
			}
			if services.Overlaps(s.podRange(node)) || services.Contains(s.nodeAddress(node)) {
				t.Errorf("%s overlaps the Services", who)
			}
		}
	}
}
