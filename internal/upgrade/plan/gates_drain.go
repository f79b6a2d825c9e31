package plan

import (
	"fmt"
	"time"

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
		Message: first + " was claimed first, and a control plane node is upgraded alone",
	}
}

// notPrefetched orders the node to prefetch, or reports what that waits for.
func notPrefetched(d *deciding, n *cluster.Node, hop int) *Wait {
	if w := d.waitForBackup(n); w != nil {
		return w
	}
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
	d.act(Cordon, n, "it is drained next")
	return &Wait{}
}

// notProtected protects a node that was not cordoned here: a cordon protects the node as well.
func notProtected(d *deciding, n *cluster.Node, _ int) *Wait {
	if n.ProtectedBy == d.op.UID {
		return nil
	}
	d.act(Protect, n, "autoscalers must not remove it while it is upgraded")
	return &Wait{}
}

// notDrained drains a node. The pods on it count, besides the drain's own status: one may have been
// created since.
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
		if onBlocked, _ := d.onBlocked(n); onBlocked != refitv1alpha1.OnBlockedWait {
			w.Message += fmt.Sprintf("; onBlocked %s applies after %s", onBlocked, duration(timeout))
		}
	}
	if status != nil && status.StartTime != nil {
		w.Until = status.StartTime.Add(timeout)
	}
	return &w
}

// drainOverdue applies the pool's policy for a node that was not drained in time.
func (d *deciding) drainOverdue(n *cluster.Node, status *refitv1alpha1.DrainStatus) *Wait {
	rules := policy.DrainOf(d.spec, n)
	late := fmt.Sprintf("it was not drained within %s%s", duration(rules.Timeout.Duration), blockersOf(status))
	onBlocked, why := d.onBlocked(n)
	switch onBlocked {
	case refitv1alpha1.OnBlockedSkip:
		d.act(Skip, n, "%s; onBlocked is Skip", late)
	case refitv1alpha1.OnBlockedFail:
		d.act(FailDrain, n, "%s; onBlocked is Fail", late)
	case refitv1alpha1.OnBlockedDelete:
		d.act(Drain, n, "%s; onBlocked is Delete", late).Delete = true
		return d.deletingPods(n, status)
	case refitv1alpha1.OnBlockedWait:
		d.act(Drain, n, "%s; %s", late, why)
		return &Wait{
			Reason: refitv1alpha1.ReasonDrainBlocked, Node: n.Name, Since: status.StartTime.Time, ManualIntervention: true,
			Message: fmt.Sprintf("Draining %s takes longer than %s%s", n.Name, duration(rules.Timeout.Duration), blockersOf(status)),
			Remedy:  "Make the pods evictable, or set the pool's drain.onBlocked to Skip, Fail or Delete",
		}
	}
	return &Wait{}
}

// onBlocked is the policy for a node that was not drained in time, and why it is Wait.
func (d *deciding) onBlocked(n *cluster.Node) (refitv1alpha1.OnBlocked, string) {
	onBlocked := policy.DrainOf(d.spec, n).OnBlocked
	if d.changing(n) && onBlocked != refitv1alpha1.OnBlockedDelete {
		return refitv1alpha1.OnBlockedWait, "it is partly changed and cannot be skipped"
	}
	return onBlocked, "onBlocked is Wait"
}

// deletionDelay is how long pods that are deleted may block a drain before manual intervention is
// required.
const deletionDelay = 2 * time.Minute

// deletingPods waits until the pods are deleted. Some cannot be: one without a controller that is
// not waived, one that a finalizer keeps, one whose deletion a webhook denies.
func (d *deciding) deletingPods(n *cluster.Node, status *refitv1alpha1.DrainStatus) *Wait {
	deleting := d.now.Sub(status.StartTime.Time) - policy.DrainOf(d.spec, n).Timeout.Duration
	blocked := status.Delete && status.Phase == refitv1alpha1.DrainBlocked && deleting > deletionDelay
	if !blocked && deleting <= interventionDelay {
		d.busy++
		w := d.inProgress(n, fmt.Sprintf("Deleting the pods that block the drain of %s%s", n.Name, blockersOf(status)))
		return &w
	}
	return &Wait{
		Reason: refitv1alpha1.ReasonDrainBlocked, Node: n.Name, Since: status.StartTime.Time, ManualIntervention: true,
		Message: fmt.Sprintf("Pods on %s cannot be deleted%s", n.Name, blockersOf(status)),
		Remedy:  fmt.Sprintf("Remove what keeps the pods; `kubectl describe nodeupgrade %s` lists them. Refit continues once they are gone", n.Name),
	}
}
