package component

import (
	"fmt"
	"slices"
	"strings"
)

// Peer is another cluster that a component is connected to. Components do not report the versions
// of their peers, so the user names them.
type Peer struct{ Name, Version string }

// The reasons why a peer blocks an upgrade.
const (
	ReasonPeerUnknown      = "PeerUnknown"
	ReasonPeerIncompatible = "PeerIncompatible"
)

// PeerProblem is a peer that blocks an upgrade.
type PeerProblem struct {
	Peer, Reason, Message string
}

// CheckPeers returns the peers that block the upgrade of a component to a version. listed are the
// names of the peers that the cluster has, and named what the user states about them. A peer that
// is named and not listed is over, and does not count.
func CheckPeers(component, to string, m Matrix, listed []string, named []Peer) (problems []PeerProblem, err error) {
	target, err := parseVersion(to)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(listed))) {
		at := slices.IndexFunc(named, func(p Peer) bool { return p.Name == name })
		if at < 0 {
			message := fmt.Sprintf("the version of %s in peer %s is unknown", component, name)
			problems = append(problems, PeerProblem{Peer: name, Reason: ReasonPeerUnknown, Message: message})
			continue
		}
		version, err := parseVersion(named[at].Version)
		if err != nil {
			return nil, fmt.Errorf("peer %s: %w", name, err)
		}
		if !m.FitsPeer(target, version) {
			problems = append(problems, PeerProblem{
				Peer: name, Reason: ReasonPeerIncompatible,
				Message: fmt.Sprintf("%s %s does not work with peer %s, which has %s", component, strings.TrimPrefix(to, "v"), name, version),
			})
		}
	}
	return problems, nil
}
