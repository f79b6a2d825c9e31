package plan

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// StageProgress is how far a stage is.
type StageProgress struct {
	// Done is how many nodes have completed the stage.
	Done int32
	// Complete is set if the stage and all before it have nothing left to do, also for nodes that
	// joined since the plan was made.
	Complete bool
}

// stageProgress returns the progress of each stage of the plan.
func (d *deciding) stageProgress() []StageProgress {
	out, complete := make([]StageProgress, len(d.plan.Stages)), true
	for i := range d.plan.Stages {
		stage := &d.plan.Stages[i]
		kind := StageKindOf(stage.Name)
		complete = complete && d.complete(stage)
		out[i] = StageProgress{Done: kind.done(d.view, stage.Hop), Complete: complete}
	}
	return out
}

// prefetchDone counts workers in the stages in which they prefetch: once for each of their
// upgrades.
func (v *view) prefetchDone(hop int) int32 {
	done := v.countNodes(v.controlPlane, hop, v.hasPrefetched)
	if v.workersPrefetch(hop) {
		done += v.countNodes(v.workers, v.workersHop(hop), v.hasPrefetched)
	}
	return done
}

func (v *view) controlPlaneDone(hop int) int32 {
	return v.countNodes(v.controlPlane, hop, v.hasCompleted)
}

func (v *view) workersDone(hop int) int32 { return v.countNodes(v.workers, hop, v.hasCompleted) }

func (v *view) noneDone(int) int32 { return 0 }

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
	switch {
	case order == nil:
		return false
	case v.prefetched(n, hop):
		return true
	case v.at(n, hop):
		return !v.imagesLeft[hop]
	}
	changed := order.Spec.Permit == refitv1alpha1.PermitApply || order.Spec.Permit == refitv1alpha1.PermitRollback
	return changed && release != nil && order.Spec.Release == *release
}

// hasCompleted reports whether the node has reached the hop's version and this operation has
// released it, or has continued with it to a later hop.
func (v *view) hasCompleted(n *cluster.Node, hop int) bool {
	return v.at(n, hop) && (v.settled(n, hop) || !v.ordered(n, hop) && hop < len(v.plan.Hops)-1)
}
