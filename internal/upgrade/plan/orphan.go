package plan

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// KeepCordon leaves a cordon in place and reports why. It has no effect on the cluster.
const KeepCordon ActionKind = "KeepCordon"

// Orphan decides what to do with a node that is cordoned for an operation that no longer exists,
// or protected from autoscalers, as when its finalizer was removed by hand: nothing else ends
// that. It first orders the agent to start nothing new. A host that is being changed finishes, and
// stays cordoned until then; one that is partly changed, or whose agent refuses that order, stays
// cordoned until the user has fixed it. That another operation has an order to the host since does
// not make it whole. Orphan returns nil if there is nothing to do, now or at all.
func Orphan(n *cluster.Node, exists func(uid string) bool) *Action {
	end, operation := Uncordon, n.CordonedBy
	if operation == "" || exists(operation) {
		end, operation = Unprotect, n.ProtectedBy
	}
	if operation == "" || exists(operation) {
		return nil
	}
	if u := n.Upgrade; u != nil && string(u.Spec.NodeUID) == n.UID {
		by := string(u.Spec.Operation.UID)
		o := orphan{view: &view{op: &cluster.Operation{UID: by}}, n: n, end: end}
		if by != operation && exists(by) {
			return o.underOther()
		}
		return o.underDeleted()
	}
	return lift(end, n)
}

// orphan is a node whose mark is orphaned, in the view of the operation of its order.
type orphan struct {
	*view
	n   *cluster.Node
	end ActionKind
}

// underDeleted decides about a host whose last order is that of an operation that no longer exists.
func (o *orphan) underDeleted() *Action {
	u := o.n.Upgrade
	switch {
	case u.Spec.Permit == refitv1alpha1.PermitApply || u.Spec.Permit == refitv1alpha1.PermitRollback:
		return &Action{
			Kind: Hold, Node: o.n.Name, Release: &u.Spec.Release, Role: u.Spec.Role, Attempt: u.Spec.Attempt,
			Reason: "the operation that ordered it no longer exists",
		}
	case o.end == Uncordon && o.partlyChanged(o.n):
		return o.keep()
	case o.end == Uncordon && o.refusal(o.n) != nil:
		return &Action{
			Kind: KeepCordon, Node: o.n.Name,
			Reason: "the node stays cordoned: its agent refuses the order to do nothing more for an operation that no longer exists. " +
				"Check its NodeUpgrade, then run `kubectl uncordon`",
		}
	case o.refusal(o.n) == nil && (!o.answered() || changesHost(u.Status.Phase)):
		return nil
	}
	return lift(o.end, o.n)
}

// underOther decides about a host that has an order of another operation. That one reports what it
// waits for, and it cordons the node itself once the orphaned cordon is lifted.
func (o *orphan) underOther() *Action {
	u := o.n.Upgrade
	changes := u.Spec.Permit == refitv1alpha1.PermitApply || u.Spec.Permit == refitv1alpha1.PermitRollback
	switch phase := u.Status.Phase; {
	case o.end == Unprotect:
	case changesHost(phase), changes && (!o.answered() || phase != refitv1alpha1.NodeSucceeded && phase != refitv1alpha1.NodeRolledBack):
		return nil
	case phase == refitv1alpha1.NodeFailed && (node.Disrupted(u.Status.Steps) || u.Status.Error != nil && u.Status.Error.Reason == node.RefusedBusy):
		return o.keep()
	case !o.answered() && o.refusal(o.n) == nil:
		return nil
	}
	return lift(o.end, o.n)
}

// answered reports whether the status is that of the last order.
func (o *orphan) answered() bool {
	return o.n.Upgrade.Status.ObservedSequence == o.n.Upgrade.Spec.Sequence
}

func (o *orphan) keep() *Action {
	return &Action{
		Kind: KeepCordon, Node: o.n.Name,
		Reason: "the node stays cordoned: its host is partly changed, and the operation that changed it no longer exists. " +
			"Roll it back on the host: `systemctl stop refit-agent; refit-agent undo --yes; systemctl start refit-agent`",
	}
}

func lift(end ActionKind, n *cluster.Node) *Action {
	return &Action{Kind: end, Node: n.Name, Reason: "the operation that claimed it no longer exists"}
}
