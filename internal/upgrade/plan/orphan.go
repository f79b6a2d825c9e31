package plan

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// KeepCordon leaves a cordon in place and reports why. It has no effect on the cluster.
const KeepCordon ActionKind = "KeepCordon"

// Orphan decides what to do with a node that is cordoned for an operation that no longer exists,
// or protected from autoscalers, as when its finalizer was removed by hand: nothing else ends
// that. It first orders the agent to start nothing new. A host that is being changed finishes, and
// stays cordoned until then; one that is partly changed, or whose agent refuses that order, stays
// cordoned until the user has fixed it. Orphan returns nil if there is nothing to do, now or at
// all.
func Orphan(n *cluster.Node, exists func(uid string) bool) *Action {
	end, operation := Uncordon, n.CordonedBy
	if operation == "" || exists(operation) {
		end, operation = Unprotect, n.ProtectedBy
	}
	if operation == "" || exists(operation) {
		return nil
	}
	if u := n.Upgrade; u != nil && string(u.Spec.Operation.UID) == operation && string(u.Spec.NodeUID) == n.UID {
		op := &view{op: &cluster.Operation{UID: operation}}
		answered := u.Status.ObservedSequence == u.Spec.Sequence
		switch {
		case u.Spec.Permit == refitv1alpha1.PermitApply || u.Spec.Permit == refitv1alpha1.PermitRollback:
			return &Action{
				Kind: Hold, Node: n.Name, Release: &u.Spec.Release, Role: u.Spec.Role, Attempt: u.Spec.Attempt,
				Reason: "the operation that ordered it no longer exists",
			}
		case end == Uncordon && op.partlyChanged(n):
			return &Action{
				Kind: KeepCordon, Node: n.Name,
				Reason: "the node stays cordoned: its host is partly changed, and the operation that changed it no longer exists. " +
					"Roll it back on the host: `systemctl stop refit-agent; refit-agent undo --yes; systemctl start refit-agent`",
			}
		case end == Uncordon && op.refusal(n) != nil:
			return &Action{
				Kind: KeepCordon, Node: n.Name,
				Reason: "the node stays cordoned: its agent refuses the order to do nothing more for an operation that no longer exists. " +
					"Check its NodeUpgrade, then run `kubectl uncordon`",
			}
		case op.refusal(n) == nil && (!answered || changesHost(u.Status.Phase)):
			return nil
		}
	}
	return &Action{Kind: end, Node: n.Name, Reason: "the operation that claimed it no longer exists"}
}
