package plan

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Orphan decides about a node that is cordoned for an operation which is not there any more, as when somebody took its finalizer away. Nobody else will lift
// that cordon. First the agent is told to begin nothing more; a host that is being changed comes to its end, and keeps the cordon until then. It returns nil if
// there is nothing to do: now, or at all.
func Orphan(n *cluster.Node, exists func(uid string) bool) *Action {
	if n.CordonedBy == "" || exists(n.CordonedBy) {
		return nil
	}
	if u := n.Upgrade; u != nil && string(u.Spec.Operation.UID) == n.CordonedBy && string(u.Spec.NodeUID) == n.UID {
		answered := u.Status.ObservedSequence == u.Spec.Sequence
		switch {
		case u.Spec.Permit == refitv1alpha1.PermitApply || u.Spec.Permit == refitv1alpha1.PermitRollback:
			return &Action{
				Kind: Hold, Node: n.Name, Release: &u.Spec.Release, Role: u.Spec.Role, Attempt: u.Spec.Attempt,
				Reason: "the operation that it was ordered for is not there any more",
			}
		case !answered, u.Status.Phase == refitv1alpha1.NodeApplying, u.Status.Phase == refitv1alpha1.NodeRollingBack:
			return nil
		}
	}
	return &Action{Kind: Uncordon, Node: n.Name, Reason: "the operation that cordoned it is not there any more"}
}
