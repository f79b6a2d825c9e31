package clusterupgrade

import (
	"context"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// startTrial writes down that a Pod shall try a node, from which moment its time counts. Whoever tries nodes sees that and makes the Pod.
func (r *Reconciler) startTrial(ctx context.Context, obs *observation, a *plan.Action) error {
	return r.patchNodeUpgrade(ctx, obs, a, func(now *refitv1alpha1.NodeUpgrade) bool {
		if t := now.Status.Trial; t != nil && t.Sequence == now.Spec.Sequence {
			return false
		}
		now.Status.Trial = &refitv1alpha1.TrialStatus{Sequence: now.Spec.Sequence, Phase: refitv1alpha1.TrialRunning, StartTime: r.stamp()}
		return true
	})
}
