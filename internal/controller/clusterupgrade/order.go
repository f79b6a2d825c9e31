package clusterupgrade

import (
	"context"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/orders"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

var permits = map[plan.ActionKind]refitv1alpha1.Permit{
	plan.Prefetch: refitv1alpha1.PermitPrefetch, plan.Apply: refitv1alpha1.PermitApply,
	plan.Rollback: refitv1alpha1.PermitRollback, plan.Hold: refitv1alpha1.PermitHold,
}

// order gives an order to the agent of a node. The order that the decision was made on must still
// be in the API.
func (r *Reconciler) order(ctx context.Context, obs *observation, a *plan.Action) (bool, error) {
	n := obs.nodes[a.Node]
	if n == nil || n.Report == nil || a.Release == nil {
		return false, nil // gates hold such a node
	}
	writer := orders.Writer{Client: r.Client, FieldOwner: fieldOwner}
	current, err := writer.Current(ctx, n)
	if err != nil || current == nil {
		return false, err
	}
	if a.Kind == plan.Apply && drainedFor(current) {
		// Checked once more: a pod may have been bound to the node since it was drained.
		left, err := r.PodsToEvict(ctx, n.Name)
		if err != nil {
			return false, err
		}
		if len(left) > 0 {
			return false, r.drainAgain(ctx, obs, a.Node)
		}
	}
	next := orders.Order{Permit: permits[a.Kind], Release: *a.Release, Role: a.Role, Attempt: a.Attempt, KeepAddons: a.KeepAddons, NotAfter: a.NotAfter}
	if err := writer.Write(ctx, current, obs.operation, n, next, obs.now); err != nil {
		return false, err
	}
	return true, nil
}

// drainedFor reports whether the node was drained for its present order.
func drainedFor(current *refitv1alpha1.NodeUpgrade) bool {
	return current.Status.Drain != nil && current.Status.Drain.Sequence == current.Spec.Sequence
}

// drainAgain drains a node that was drained, and has pods since.
func (r *Reconciler) drainAgain(ctx context.Context, obs *observation, node string) error {
	return r.executeAction(ctx, obs, &plan.Action{
		Kind: plan.Drain, Node: node, Reason: "pods were bound to the node after it was drained",
	}, (*Reconciler).startDrain)
}
