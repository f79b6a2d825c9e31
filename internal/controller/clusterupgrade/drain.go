package clusterupgrade

import (
	"context"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// startDrain requests the drain of a node, from which moment its timeout counts. The NodeUpgrade
// controller runs it.
func (r *Reconciler) startDrain(ctx context.Context, obs *observation, a *plan.Action) (bool, error) {
	if draining(obs.nodes[a.Node], a) {
		return false, nil // the same is decided until the node is drained
	}
	return r.patchNodeUpgrade(ctx, obs, a, func(u *refitv1alpha1.NodeUpgrade) bool {
		d := u.Status.Drain
		if d == nil || d.Sequence != u.Spec.Sequence {
			u.Status.Drain = &refitv1alpha1.DrainStatus{
				Sequence: u.Spec.Sequence, Phase: refitv1alpha1.DrainDraining, StartTime: r.timestamp(), Delete: a.Delete,
			}
			return true
		}
		if d.Phase != refitv1alpha1.DrainDrained && d.Delete == a.Delete {
			return false
		}
		d.Phase, d.Delete, d.CompletionTime = refitv1alpha1.DrainDraining, a.Delete, nil
		return true
	})
}

// draining reports whether a node is being drained in the way that was decided.
func draining(n *cluster.Node, a *plan.Action) bool {
	if n == nil || n.Upgrade == nil {
		return false
	}
	d := n.Upgrade.Status.Drain
	return d != nil && d.Sequence == n.Upgrade.Spec.Sequence && d.Delete == a.Delete && d.Phase != refitv1alpha1.DrainDrained
}

// finishDrain writes that a node could not be drained: it is skipped, or has failed.
func (r *Reconciler) finishDrain(ctx context.Context, obs *observation, a *plan.Action) (bool, error) {
	return r.patchNodeUpgrade(ctx, obs, a, func(u *refitv1alpha1.NodeUpgrade) bool {
		d := u.Status.Drain
		if d == nil || d.Sequence != u.Spec.Sequence {
			return false
		}
		d.Phase, d.CompletionTime = refitv1alpha1.DrainSkipped, r.timestamp()
		if a.Kind == plan.FailDrain {
			d.Phase = refitv1alpha1.DrainFailed
		}
		return true
	})
}
