package progress

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// left is the remaining time: the plan's estimate without what is done. It is 0 where the operation
// waits for a user, and never grows while the estimate stays.
func left(u *refitv1alpha1.ClusterUpgrade, now time.Time) time.Duration {
	status := &u.Status
	if status.Phase != refitv1alpha1.PhaseRunning || status.Plan == nil {
		return 0
	}
	var all time.Duration
	for i := range status.Plan.Stages {
		all += usual(&status.Plan.Stages[i])
	}
	if all == 0 {
		return 0
	}
	// The estimate is of the whole plan. Its stages share it as they usually do.
	scale := float64(status.Plan.Estimate.Duration) / float64(all)
	var rest float64
	for i := range status.Plan.Stages {
		s := &status.Plan.Stages[i]
		expected := scale * float64(usual(s))
		rest += expected * (1 - share(s, expected, now))
	}
	return max(time.Duration(rest), time.Second)
}

func usual(s *refitv1alpha1.StageSummary) time.Duration { return plan.UsualTime(s.Name, s.Total) }

// share is how much of a stage is done. Time counts as well as nodes, but completes none: what
// takes longer than expected does not end by itself.
func share(s *refitv1alpha1.StageSummary, expected float64, now time.Time) float64 {
	if s.CompletionTime != nil {
		return 1
	}
	node := 1 / float64(max(s.Total, 1))
	done := min(node*float64(s.Done), 1)
	if s.StartTime == nil || expected == 0 {
		return done
	}
	elapsed := float64(now.Sub(s.StartTime.Time)) / expected
	return max(done, min(elapsed, done+0.9*node, 1))
}
