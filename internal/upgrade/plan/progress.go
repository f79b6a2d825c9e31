package plan

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// progress counts the nodes of the plan.
func (v *view) progress() refitv1alpha1.NodeCounts {
	var out refitv1alpha1.NodeCounts
	last := len(v.plan.Hops) - 1
	for _, nodes := range [][]*cluster.Node{v.controlPlane, v.workers} {
		for _, n := range nodes {
			out.Total++
			switch {
			case v.failed(n):
				out.Failed++
			case v.settled(n, last) && !v.lacks(n, last):
				out.Done++
			case v.skipped(n):
				out.Skipped++
			}
		}
	}
	return out
}

// failures are the component and the nodes that failed, bounded by what a status may hold.
func (v *view) failures() []refitv1alpha1.Failure {
	out := v.componentFailures()
	for _, nodes := range [][]*cluster.Node{v.controlPlane, v.workers} {
		for _, n := range nodes {
			if v.failed(n) && len(out) < refitv1alpha1.MaxFailures {
				out = append(out, v.failure(n))
			}
		}
	}
	return out
}

// failure describes a failed node, within the bounds of a status.
func (v *view) failure(n *cluster.Node) refitv1alpha1.Failure {
	out := v.describeFailure(n)
	out.Message, out.Remedy = refitv1alpha1.Clip(out.Message, refitv1alpha1.MaxMessage), refitv1alpha1.Clip(out.Remedy, refitv1alpha1.MaxMessage)
	return out
}

func (v *view) describeFailure(n *cluster.Node) refitv1alpha1.Failure {
	out := refitv1alpha1.Failure{Node: n.Name, Class: refitv1alpha1.FailureManualIntervention, Remedy: "Fix the cause, then run `refit retry`"}
	if drain := v.drain(n); drain != nil && drain.Phase == refitv1alpha1.DrainFailed {
		out.Step, out.Message = "drain", "the node was not drained in time"
		if len(drain.Blockers) > 0 {
			out.Message += fmt.Sprintf(": %s: %s", drain.Blockers[0].Pod, drain.Blockers[0].Reason)
		}
		return out
	}
	if refusal := v.refusal(n); refusal != nil {
		w := refusedWait(n, refusal)
		out.Message, out.Remedy = w.Message, w.Remedy
		return out
	}
	if e := v.order(n).Status.Error; e != nil {
		out.Class, out.Step, out.Message = e.Class, e.Step, e.Message
		if e.Remedy != "" {
			out.Remedy = e.Remedy
		}
	}
	return out
}
