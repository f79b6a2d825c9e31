package plan

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// claimedLater releases a control plane node that was claimed beside another node.
func claimedLater(d *deciding, n *cluster.Node, _ int) *Wait {
	first := d.op.Active[0]
	if !n.ControlPlane || first == n.Name || d.changing(n) {
		return nil
	}
	return &Wait{
		Reason: refitv1alpha1.ReasonProgressing, Node: n.Name,
		Message: first + " was claimed before it, and a control plane node goes alone",
	}
}

// notPrefetched orders the node to prefetch, or reports what that waits for.
func notPrefetched(d *deciding, n *cluster.Node, hop int) *Wait {
	if d.prefetched(n, hop) {
		return nil
	}
	d.prefetchNode(n, hop)
	return &Wait{}
}

// notCordoned cordons a node that is drained.
func notCordoned(d *deciding, n *cluster.Node, hop int) *Wait {
	if n.Unschedulable || !d.needsDrain(n, hop) {
		return nil
	}
	d.act(Cordon, n, "it is about to be emptied")
	return &Wait{}
}

// notDrained drains a node. The pods count as well as the drain's own status: a pod may have
// arrived since.
func notDrained(d *deciding, n *cluster.Node, hop int) *Wait {
	if !d.needsDrain(n, hop) {
		return nil
	}
	status, moves := d.drain(n), int32(0)
	if drain := d.drains.Node(n.Name); drain != nil {
		moves = drain.Moves
	}
	if status != nil && status.Phase == refitv1alpha1.DrainDrained && moves == 0 {
		return nil
	}
	timeout := policy.DrainOf(d.spec, n).Timeout.Duration
	if status != nil && status.StartTime != nil && d.now.Sub(status.StartTime.Time) >= timeout {
		return d.drainOverdue(n, status)
	}
	d.busy++
	d.act(Drain, n, "%s", podsToMove(moves))
	w := d.inProgress(n, fmt.Sprintf("Draining %s%s", n.Name, blockersOf(status)))
	if status != nil && len(status.Blockers) > 0 {
		w.Reason = refitv1alpha1.ReasonDrainBlocked
	}
	if status != nil && status.StartTime != nil {
		w.Until = status.StartTime.Add(timeout)
	}
	return &w
}

// drainOverdue does what the pool's policy says of a node that was not drained in time.
func (d *deciding) drainOverdue(n *cluster.Node, status *refitv1alpha1.DrainStatus) *Wait {
	rules := policy.DrainOf(d.spec, n)
	late := fmt.Sprintf("it could not be emptied within %s%s", duration(rules.Timeout.Duration), blockersOf(status))
	onBlocked, why := rules.OnBlocked, "the pool says Wait"
	if d.changing(n) && onBlocked != refitv1alpha1.OnBlockedDelete {
		onBlocked, why = refitv1alpha1.OnBlockedWait, "it is half changed and cannot be left for later"
	}
	switch onBlocked {
	case refitv1alpha1.OnBlockedSkip:
		d.act(Skip, n, "%s; the pool says Skip", late)
	case refitv1alpha1.OnBlockedFail:
		d.act(FailDrain, n, "%s; the pool says Fail", late)
	case refitv1alpha1.OnBlockedDelete:
		d.act(Drain, n, "%s; the pool says Delete", late).Delete = true
		d.busy++
	case refitv1alpha1.OnBlockedWait:
		d.act(Drain, n, "%s; %s", late, why)
		return &Wait{
			Reason: refitv1alpha1.ReasonDrainBlocked, Node: n.Name, Since: status.StartTime.Time, ManualIntervention: true,
			Message: fmt.Sprintf("Draining %s takes longer than %s%s", n.Name, duration(rules.Timeout.Duration), blockersOf(status)),
			Remedy:  "make room for the pods that are named, or set the pool's drain.onBlocked to Skip, Fail or Delete",
		}
	}
	return &Wait{}
}
