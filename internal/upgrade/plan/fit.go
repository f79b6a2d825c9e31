package plan

import (
	"slices"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// enoughSamples is how many changes of nodes in a role show how long the slowest one takes. A role
// with fewer nodes needs one of each.
const enoughSamples = 5

// slowest is how long the change of a node takes at most, as far as is known: the slowest one of
// its role, or twice the default.
func (v *view) slowest(n *cluster.Node) time.Duration {
	seen, usual, nodes := v.changes.worker, defaultWorker, len(v.workers)
	if n.ControlPlane {
		seen, usual, nodes = v.changes.controlPlane, defaultControlPlane, len(v.controlPlane)
	}
	if len(seen) >= min(enoughSamples, max(1, nodes)) {
		return max(time.Second, slices.Max(seen))
	}
	return 2 * usual
}

// changeNeeds is how much time has to be left for the change of a node: half as much again as it
// takes at most.
func (v *view) changeNeeds(n *cluster.Node) time.Duration { return v.slowest(n) * 3 / 2 }

// nodeNeeds is how much time has to be left for a node that is not claimed yet: it is drained
// first.
func (v *view) nodeNeeds(n *cluster.Node, hop int) time.Duration {
	takes := v.changes.times()
	drain := takes.node(n, v.needsDrain(n, hop), v.drains.Node(n.Name)).Expected - takes.node(n, false, nil).Expected
	return drain + v.changeNeeds(n)
}

// claimNeeds is how much time has to be left to claim a node. Of a control plane that changes as a
// whole, the first node needs the time of all.
func (v *view) claimNeeds(n *cluster.Node, hop int) time.Duration {
	if !n.ControlPlane || !v.opening.wholeControlPlane() || slices.ContainsFunc(v.controlPlane, func(other *cluster.Node) bool { return v.at(other, hop) }) {
		return v.nodeNeeds(n, hop)
	}
	var all time.Duration
	for _, other := range v.controlPlane {
		if !v.settled(other, hop) {
			all += v.nodeNeeds(other, hop)
		}
	}
	return all
}

// componentNeeds is how much time has to be left for the change of a component.
const componentNeeds = 3 * defaultComponent
