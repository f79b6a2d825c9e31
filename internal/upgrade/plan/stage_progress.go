package plan

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// StageProgress is how many nodes have completed a stage.
type StageProgress struct {
	Done int32
}

// stageProgress counts, for each stage of the plan, the nodes that have completed it.
func (v *view) stageProgress() []StageProgress {
	out := make([]StageProgress, len(v.plan.Stages))
	for i := range v.plan.Stages {
		s := &v.plan.Stages[i]
		switch s.Name {
		case refitv1alpha1.StagePrefetch:
			out[i].Done = v.countNodes(v.controlPlane, s.Hop, v.hasPrefetched)
			// Workers prefetch once for each of their upgrades: in the first stage after the last one.
			if i == 0 || v.plan.Stages[i-1].Name == refitv1alpha1.StageWorkers {
				out[i].Done += v.countNodes(v.workers, v.workersHop(s.Hop), v.hasPrefetched)
			}
		case refitv1alpha1.StageControlPlane:
			out[i].Done = v.countNodes(v.controlPlane, s.Hop, v.hasCompleted)
		case refitv1alpha1.StageWorkers:
			out[i].Done = v.countNodes(v.workers, s.Hop, v.hasCompleted)
		case refitv1alpha1.StageVerify:
		}
	}
	return out
}

func (v *view) countNodes(nodes []*cluster.Node, hop int, completed func(*cluster.Node, int) bool) (n int32) {
	for _, node := range nodes {
		if hop >= 0 && completed(node, hop) {
			n++
		}
	}
	return n
}

// hasPrefetched reports whether this operation has fetched everything for the hop onto the node.
// A node that was upgraded since has fetched it before.
func (v *view) hasPrefetched(n *cluster.Node, hop int) bool {
	order, release := v.order(n), v.plan.Hops[hop].Release
	if order == nil || v.prefetched(n, hop) || v.at(n, hop) {
		return order != nil
	}
	changed := order.Spec.Permit == refitv1alpha1.PermitApply || order.Spec.Permit == refitv1alpha1.PermitRollback
	return changed && release != nil && order.Spec.Release == *release
}

// hasCompleted reports whether the node has reached the hop's version and this operation has
// released it, or has gone on with it to a later hop.
func (v *view) hasCompleted(n *cluster.Node, hop int) bool {
	return v.at(n, hop) && (v.settled(n, hop) || !v.ordered(n, hop) && hop < len(v.plan.Hops)-1)
}
