package clusterupgrade

import (
	"context"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// startTrial requests a trial of a node, from which moment its timeout counts. The NodeUpgrade
// controller runs it.
func (r *Reconciler) startTrial(ctx context.Context, obs *observation, a *plan.Action) (bool, error) {
	return r.patchNodeUpgrade(ctx, obs, a, func(u *refitv1alpha1.NodeUpgrade) bool {
		if t := u.Status.Trial; t != nil && t.Sequence == u.Spec.Sequence {
			return false
		}
		u.Status.Trial = &refitv1alpha1.TrialStatus{Sequence: u.Spec.Sequence, Phase: refitv1alpha1.TrialRunning, StartTime: r.timestamp()}
		return true
	})
}
