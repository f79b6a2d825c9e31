package plan

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/orders"
)

// refusal is the agent's refusal of the latest order, nil if there is none. The agent then does not
// follow the order, and its status is about an earlier one.
func (v *view) refusal(n *cluster.Node) *metav1.Condition {
	order := v.order(n)
	if order == nil || order.Spec.Permit == refitv1alpha1.PermitBackup && !failedPartly(order) {
		return nil // the EtcdBackup reports a refused backup; the operation continues without it
	}
	return orders.Refusal(order)
}

// repeats reports whether an order that failed or was refused is written again: the user retried
// since, or only its number was refused.
func (v *view) repeats(n *cluster.Node) bool {
	return v.op.Spec.Retry > v.order(n).Spec.Attempt || v.onlyNumberRefused(n)
}

// onlyNumberRefused reports whether the user has retried after a restore of etcd, and a host whose
// last orders are lost refuses the number of the new one. Its leader came after every order that
// the host accepted, so it is no order of the past, and one retry is enough for all hosts.
func (v *view) onlyNumberRefused(n *cluster.Node) bool {
	refusal := v.refusal(n)
	if refusal == nil || refusal.Reason != node.RefusedSequence || n.Report == nil {
		return false
	}
	order, accepted := v.order(n).Spec, n.Report
	return order.Attempt > 0 && accepted.AcceptedSequence >= order.Sequence && accepted.AcceptedEpoch < order.Epoch
}

// partlyChanged reports whether the host is partly changed, and its order does not permit that: the
// order that did was lost, as in a restore of etcd. An agent continues such a host under any order
// that retries it, so it is claimed and drained first.
func (v *view) partlyChanged(n *cluster.Node) bool {
	order := v.order(n)
	return (v.refusal(n) != nil || order.Spec.Permit == refitv1alpha1.PermitPrefetch || order.Spec.Permit == refitv1alpha1.PermitHold ||
		order.Spec.Permit == refitv1alpha1.PermitBackup) && failedPartly(order)
}

// failedPartly reports whether a change failed and left the host partly changed. After a restore of
// etcd, the order may be the one to back up etcd before that change, which the agent refuses.
func failedPartly(order *cluster.Upgrade) bool {
	return order.Status.Phase == refitv1alpha1.NodeFailed && node.Disrupted(order.Status.Steps)
}

// followRefused follows an agent that refuses its order. Refit repeats it only on a retry: an order
// of the past means that the cluster's history was rewritten, as by a restore of etcd.
func (d *deciding) followRefused(n *cluster.Node, hop int, held *hold) {
	const aborted = "the operation was aborted"
	order := d.order(n)
	done := order.Status.Phase == refitv1alpha1.NodeSucceeded
	switch {
	case d.op.Spec.Aborted && done && order.Spec.Permit == refitv1alpha1.PermitHold:
		d.release(n, aborted) // it runs its version, and no order is left that its agent could follow
	case d.op.Spec.Aborted && done:
		d.withdrawOrder(n, aborted)
	case d.op.Spec.Aborted && (order.Spec.Permit != refitv1alpha1.PermitRollback || d.repeats(n)):
		d.command(Rollback, n, hop, aborted)
	case !d.repeats(n):
		d.wait(d.failedWait(n))
	case d.at(n, hop) && !d.changing(n):
		d.withdrawOrder(n, fmt.Sprintf("it runs %s already", d.plan.Hops[hop].Kubernetes)).Attempt = d.op.Spec.Retry
	case order.Spec.Permit == refitv1alpha1.PermitRollback:
		d.command(Rollback, n, hop, "retry was requested")
	case held == nil:
		d.prepare(n, hop)
	default:
		d.wait(held.wait)
	}
}

func refusedWait(n *cluster.Node, refusal *metav1.Condition) Wait {
	return Wait{
		Reason: refitv1alpha1.ReasonOrderRefused, Node: n.Name, Since: refusal.LastTransitionTime.Time, ManualIntervention: true,
		Message: fmt.Sprintf("The agent on %s refuses its order (%s): %s", n.Name, refusal.Reason, refusal.Message),
		Remedy:  "Fix the cause, then run `refit retry`. After a restore of etcd, first check that the operation is still the one you want",
	}
}
