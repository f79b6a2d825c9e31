package orders

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Unchanged reports whether a NodeUpgrade is as it was observed, in everything that decisions
// depend on. No two orders have the same sequence.
func Unchanged(now *refitv1alpha1.NodeUpgrade, observed *cluster.Upgrade) bool {
	return observed != nil && now.Spec.NodeUID == observed.Spec.NodeUID && now.Spec.Sequence == observed.Spec.Sequence &&
		now.Status.ObservedSequence == observed.Status.ObservedSequence && now.Status.Phase == observed.Status.Phase &&
		drainPhase(now.Status.Drain) == drainPhase(observed.Status.Drain)
}

func drainPhase(d *refitv1alpha1.DrainStatus) refitv1alpha1.DrainPhase {
	if d == nil {
		return ""
	}
	return d.Phase
}
