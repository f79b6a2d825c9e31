package plan

import (
	"fmt"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// leftBehind reports whether the operation ends without upgrading a worker: one that joined after
// the plan was approved and that is not ready or has no agent. An autoscaler may add nodes of an
// old version at any time. One that is too old for what follows is waited for.
func (v *view) leftBehind(n *cluster.Node, hop int) bool {
	able := n.IsReady() && n.Report != nil && string(n.Report.NodeUID) == n.UID
	if v.staysOlder(n, hop) {
		return true
	}
	if !v.joinedLate(n) || able || v.active[n.Name] || v.changing(n) || v.failed(n) {
		return false
	}
	until := v.workersHop(hop + 1)
	if until < 0 {
		until = len(v.plan.Hops) - 1
	}
	kubelet := v.kubelet(n)
	return until == hop || !kubelet.IsZero() && kubelet.MinorsBehind(v.targets[until]) <= skew.KubeletMinorsBehind
}

// staysOlder reports whether a worker is of an older version than a plan that changes components
// alone, and drains no node. It joined after the plan was made.
func (v *view) staysOlder(n *cluster.Node, hop int) bool {
	return v.plan.componentsAlone() && !n.ControlPlane && !v.at(n, hop) && !v.active[n.Name] && !v.changing(n) && !v.failed(n)
}

// leftAtEnd reports whether the operation ends without upgrading a worker. One that joined a moment
// ago usually becomes ready and gets its agent soon.
func (v *view) leftAtEnd(n *cluster.Node, hop int) bool {
	return v.staysOlder(n, hop) || v.leftBehind(n, hop) && (v.workersHop(hop+1) >= 0 || v.now.Sub(n.CreatedAt) >= interventionDelay)
}

// joinedLate reports whether a worker joined after the plan was approved.
func (v *view) joinedLate(n *cluster.Node) bool {
	return !n.ControlPlane && !v.op.ApprovedAt.IsZero() && n.CreatedAt.After(v.op.ApprovedAt)
}

// left are the workers that the operation leaves behind, in a sentence; empty if there are none.
func (d *deciding) left(hop int) string {
	var left []*cluster.Node
	for _, n := range d.workers {
		if !d.settled(n, hop) && d.leftAtEnd(n, hop) {
			left = append(left, n)
		}
	}
	if len(left) == 0 {
		return ""
	}
	if d.plan.componentsAlone() {
		return fmt.Sprintf("%s joined with an older version of Kubernetes: %s", phrase.Count(len(left), "node"), names(left))
	}
	return fmt.Sprintf("%s joined during the upgrade and could not be upgraded: %s", phrase.Count(len(left), "node"), names(left))
}
