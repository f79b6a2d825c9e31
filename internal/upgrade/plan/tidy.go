package plan

import "github.com/refit-dev/refit/internal/upgrade/cluster"

// Tidy decides what is left to do for an operation that has ended: it removes cordons of the
// operation, such as one that a deposed leader set late, and what keeps autoscalers off nodes. It
// needs no plan, since neither the cluster's current state nor a ClusterRelease that was deleted
// may change how an operation ended.
func Tidy(op *cluster.Operation, nodes []cluster.Node) Decision {
	d := &deciding{view: &view{op: op, s: &cluster.Snapshot{Nodes: nodes}}}
	d.removeStrays()
	out := Decision{State: Aborted, Actions: d.actions, Message: "Aborted"}
	if !op.Spec.Aborted {
		out.State, out.Message = Succeeded, "Done"
		switch {
		case ComponentsAlone(op.Plan):
			out.Message += ": the components are at the versions of the plan"
		case op.Plan != nil:
			out.Message += ": the cluster is at " + op.Plan.To
		}
	}
	return out
}
