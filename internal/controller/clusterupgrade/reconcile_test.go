package clusterupgrade

import (
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/plan"
)

func TestAnOperationThatWaitsForTheUserIsReadLessAndLess(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	for situation, tt := range map[string]struct {
		decision plan.Decision
		waited   time.Duration
		want     time.Duration
	}{
		"it progresses":            {plan.Decision{State: plan.Running}, time.Hour, 10 * time.Second},
		"it has just stalled":      {plan.Decision{State: plan.Stalled}, time.Minute, 10 * time.Second},
		"it stalled an hour ago":   {plan.Decision{State: plan.Stalled}, time.Hour, 5 * time.Minute},
		"approval for 20 minutes":  {plan.Decision{State: plan.AwaitingApproval}, 20 * time.Minute, 2 * time.Minute},
		"paused over a weekend":    {plan.Decision{State: plan.Paused}, 48 * time.Hour, 5 * time.Minute},
		"something ends by itself": {plan.Decision{State: plan.Stalled, Waiting: []plan.Wait{{Until: now.Add(time.Second)}}}, time.Hour, time.Second},
	} {
		t.Run(situation, func(t *testing.T) {
			if got := requeueAfter(&tt.decision, now.Add(-tt.waited), now); got != tt.want {
				t.Errorf("it is reconciled after %s, want %s", got, tt.want)
			}
		})
	}
}
