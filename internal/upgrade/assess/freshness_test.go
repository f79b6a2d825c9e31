package assess

import (
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

func TestJudge(t *testing.T) {
	const quick, slow = 200 * time.Millisecond, 4 * time.Second
	for situation, c := range map[string]struct {
		matters, active bool
		SnapshotAge
		want Freshness
	}{
		"nothing is disrupted":                  {false, false, SnapshotAge{Age: time.Minute, Took: quick}, Fresh},
		"recent":                                {true, false, SnapshotAge{Age: 5 * time.Second, Took: quick}, Fresh},
		"just past the limit":                   {true, false, SnapshotAge{Age: 5200 * time.Millisecond, Took: quick}, Refresh},
		"long past the limit":                   {true, false, SnapshotAge{Age: 6 * time.Second, Took: quick}, Stale},
		"large cluster, recent":                 {true, false, SnapshotAge{Age: 12 * time.Second, Took: slow}, Fresh},
		"large cluster, just past the limit":    {true, false, SnapshotAge{Age: 13 * time.Second, Took: slow}, Refresh},
		"large cluster, long past the limit":    {true, false, SnapshotAge{Age: 21 * time.Second, Took: slow}, Stale},
		"large cluster with active nodes":       {false, true, SnapshotAge{Age: 30 * time.Second, Took: slow}, Refresh},
		"1,000 nodes with active nodes":         {false, true, SnapshotAge{Age: 6 * time.Second, Took: 600 * time.Millisecond}, Refresh},
		"small cluster with active nodes":       {false, true, SnapshotAge{Age: 10 * time.Second, Took: quick}, Fresh},
		"outdated":                              {false, false, SnapshotAge{Age: time.Second, Took: quick, Outdated: true}, Stale},
		"outdated, and something is disrupted":  {true, false, SnapshotAge{Age: time.Second, Took: quick, Outdated: true}, Stale},
		"outdated, with nodes that are active":  {false, true, SnapshotAge{Age: time.Second, Took: slow, Outdated: true}, Stale},
		"a slow read, and nothing is in action": {false, false, SnapshotAge{Age: time.Minute, Took: slow}, Fresh},
	} {
		t.Run(situation, func(t *testing.T) {
			if got := c.judge(c.matters, c.active); got != c.want {
				t.Errorf("judge() = %d, want %d", got, c.want)
			}
		})
	}
}

func TestWhichDecisionsNeedARecentSnapshot(t *testing.T) {
	blocked := &preflight.Report{Findings: []preflight.Finding{{Severity: preflight.Block}}}
	doing := func(kinds ...plan.ActionKind) plan.Decision {
		d := plan.Decision{State: plan.Running}
		for _, kind := range kinds {
			d.Actions = append(d.Actions, plan.Action{Kind: kind})
		}
		return d
	}
	for situation, c := range map[string]struct {
		Assessment
		want bool
	}{
		"nothing to do":           {Assessment{Decision: doing()}, false},
		"prefetch":                {Assessment{Decision: doing(plan.Prefetch, plan.RequestReport, plan.Uncordon)}, false},
		"a claim":                 {Assessment{Decision: doing(plan.Prefetch, plan.Claim)}, true},
		"a cordon":                {Assessment{Decision: doing(plan.Cordon)}, true},
		"a drain":                 {Assessment{Decision: doing(plan.Drain)}, true},
		"a change":                {Assessment{Decision: doing(plan.Apply)}, true},
		"a component":             {Assessment{Decision: doing(plan.ApplyComponent)}, true},
		"a slot is freed":         {Assessment{Decision: doing(plan.ReleaseNode)}, true},
		"the end":                 {Assessment{Decision: doing(plan.Finish)}, true},
		"stalled":                 {Assessment{Decision: plan.Decision{State: plan.Stalled}}, true},
		"blocked by a finding":    {Assessment{Checks: blocked}, true},
		"nothing blocks":          {Assessment{Checks: &preflight.Report{}}, false},
		"waiting for an approval": {Assessment{Decision: plan.Decision{State: plan.AwaitingApproval}}, false},
	} {
		t.Run(situation, func(t *testing.T) {
			if got := c.matters(); got != c.want {
				t.Errorf("matters() = %v, want %v", got, c.want)
			}
			want := Fresh
			if c.want {
				want = Stale
			}
			if got := c.Judge(SnapshotAge{Age: time.Minute}, false); got != want {
				t.Errorf("Judge() = %d, want %d", got, want)
			}
		})
	}
}

func TestAReadInProgressWillDoUnlessTheSnapshotIsOutdated(t *testing.T) {
	now := clustertest.Now
	if got, want := (SnapshotAge{Took: 2 * time.Second}).Earliest(now), now.Add(-6*time.Second); !got.Equal(want) {
		t.Errorf("Earliest() = %s, want %s", got, want)
	}
	if got := (SnapshotAge{Took: 2 * time.Second, Outdated: true}).Earliest(now); !got.Equal(now) {
		t.Errorf("Earliest() = %s, want %s", got, now)
	}
}
