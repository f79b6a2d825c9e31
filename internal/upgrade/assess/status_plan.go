package assess

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// planOf summarizes the plan. Once the upgrade has started, the plan that it follows keeps its
// hash, origin and estimate; a plan that differs from it is proposed beside it.
func planOf(u *refitv1alpha1.ClusterUpgrade, a *Assessment, previous *refitv1alpha1.PlanSummary) *refitv1alpha1.PlanSummary {
	now := a.Plan.Summary()
	if previous != nil && a.Started {
		now.Estimate, now.From, now.WorkersFrom = previous.Estimate, previous.From, previous.WorkersFrom
		if previous.Hash == now.Hash {
			keepTotals(now.Stages, previous.Stages)
		}
	}
	switch {
	case previous == nil || now.Hash == previous.Hash || now.Hash == u.Spec.ApprovedPlan:
	case a.Started || previous.Hash == u.Spec.ApprovedPlan:
		now.ProposedHash, now.Hash = now.Hash, previous.Hash
	}
	for i := range now.Stages {
		if i < len(a.Decision.Stages) {
			now.Stages[i].Done = min(a.Decision.Stages[i].Done, now.Stages[i].Total)
		}
	}
	return now
}

// keepTotals keeps the number of nodes that each stage changes: an outline does not count them,
// and nodes that are done no longer count.
func keepTotals(stages, previous []refitv1alpha1.StageSummary) {
	if len(stages) != len(previous) {
		return
	}
	for i := range stages {
		stages[i].Total = previous[i].Total
	}
}
