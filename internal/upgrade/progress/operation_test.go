package progress

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// upgrade is an operation on a control plane node and two workers, in two hops.
func upgrade() *refitv1alpha1.ClusterUpgrade {
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "op", UID: "u", CreationTimestamp: metav1.NewTime(noon)}}
	u.Status.Phase = refitv1alpha1.PhaseRunning
	u.Status.Nodes.Total = 3
	plan := &refitv1alpha1.PlanSummary{From: "v1.35.4", To: "v1.37.1", Estimate: metav1.Duration{Duration: 9 * time.Minute}}
	for _, version := range []string{"v1.36.3", "v1.37.1"} {
		plan.Hops = append(plan.Hops, refitv1alpha1.Hop{Kubernetes: version, Release: refitv1alpha1.ReleaseRef{Name: version}})
		plan.Stages = append(plan.Stages,
			refitv1alpha1.StageSummary{Name: refitv1alpha1.StagePrefetch, Kubernetes: version, Total: 1},
			refitv1alpha1.StageSummary{Name: refitv1alpha1.StageControlPlane, Kubernetes: version, Total: 1})
	}
	plan.Stages[0].Total = 3
	plan.Stages = append(plan.Stages, refitv1alpha1.StageSummary{Name: refitv1alpha1.StageWorkers, Kubernetes: "v1.37.1", Total: 2},
		refitv1alpha1.StageSummary{Name: refitv1alpha1.StageVerify, Kubernetes: "v1.37.1"})
	u.Status.Plan = plan
	return u
}

func order(node, release string, permit refitv1alpha1.Permit, phase refitv1alpha1.NodePhase) *refitv1alpha1.NodeUpgrade {
	n := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: node}}
	n.Spec.Operation.UID, n.Spec.Release.Name, n.Spec.Permit, n.Spec.Role = "u", release, permit, refitv1alpha1.RoleWorker
	if node == "cp" {
		n.Spec.Role = refitv1alpha1.RoleFirstControlPlane
	}
	n.Status.Phase = phase
	return n
}

// The progress of the stages of two hops: P for Prefetch, C for the control plane, W for workers, V
// for Verify, with the completed nodes, and an asterisk at the stage in progress.
func TestStages(t *testing.T) {
	for name, c := range map[string]struct {
		done  []int32
		phase refitv1alpha1.Phase
		want  string
	}{
		"nothing is done":           {[]int32{0, 0, 0, 0, 0}, "", "P0/3* C0/1 P0/1 C0/1 W0/2 V"},
		"two nodes have prefetched": {[]int32{2, 0, 0, 0, 0}, "", "P2/3* C0/1 P0/1 C0/1 W0/2 V"},
		"all nodes have prefetched": {[]int32{3, 0, 0, 0, 0}, "", "P3/3 C0/1* P0/1 C0/1 W0/2 V"},
		"the first hop is complete": {[]int32{3, 1, 0, 0, 0}, "", "P3/3 C1/1 P0/1* C0/1 W0/2 V"},
		"the control plane is done": {[]int32{3, 1, 1, 1, 1}, "", "P3/3 C1/1 P1/1 C1/1 W1/2* V"},
		"every node is done":        {[]int32{3, 1, 1, 1, 2}, "", "P3/3 C1/1 P1/1 C1/1 W2/2 V*"},
		"the operation succeeded":   {[]int32{3, 1, 1, 1, 2}, refitv1alpha1.PhaseSucceeded, "P3/3 C1/1 P1/1 C1/1 W2/2 V"},
		"the operation was aborted": {[]int32{3, 1, 0, 0, 0}, refitv1alpha1.PhaseAborted, "P3/3 C1/1 P0/1 C0/1 W0/2 V"},
	} {
		t.Run(name, func(t *testing.T) {
			u := upgrade()
			u.Status.Phase = c.phase
			if c.phase != "" {
				ended := metav1.Condition{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue}
				u.Status.Conditions = []metav1.Condition{ended}
			}
			for i, done := range c.done {
				u.Status.Plan.Stages[i].Done = done
			}
			got := ""
			for _, s := range NewOperation("prod", u, nil, noon).Stages {
				got += " " + s.Name[:1]
				if s.Total > 0 {
					got += fmt.Sprintf("%d/%d", s.Done, s.Total)
				}
				if s.State == cliv1alpha1.StageInProgress {
					got += "*"
				}
			}
			if got[1:] != c.want {
				t.Errorf("%s, want %s", got[1:], c.want)
			}
		})
	}
}

// An order of another operation does not count as this operation's.
func TestOrdersOfOthers(t *testing.T) {
	u := upgrade()
	foreign := order("w1", "v1.37.1", refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched)
	foreign.Spec.Operation.UID = "another"
	foreign.Spec.Permit, foreign.Status.Phase = refitv1alpha1.PermitApply, refitv1alpha1.NodeFailed
	u.Status.Active = []string{"w1"}
	if o := NewOperation("prod", u, []*refitv1alpha1.NodeUpgrade{foreign}, noon); o.Active[0].Activity != cliv1alpha1.ActivityCordon {
		t.Errorf("it counts as failed: %+v", o.Active)
	}
}

func TestNodeProgress(t *testing.T) {
	drained := func(phase refitv1alpha1.DrainPhase, sequence int64) func(*refitv1alpha1.NodeUpgrade) {
		return func(n *refitv1alpha1.NodeUpgrade) {
			n.Status.Drain = &refitv1alpha1.DrainStatus{Sequence: sequence, Phase: phase, Remaining: 3}
		}
	}
	for name, c := range map[string]struct {
		permit refitv1alpha1.Permit
		phase  refitv1alpha1.NodePhase
		change func(*refitv1alpha1.NodeUpgrade)
		want   string
	}{
		"it fetches":                   {refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetching, nil, cliv1alpha1.ActivityPrefetch},
		"it has fetched":               {refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched, nil, cliv1alpha1.ActivityCordon},
		"it is being emptied":          {refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched, drained(refitv1alpha1.DrainDraining, 0), cliv1alpha1.ActivityDrain},
		"its drain is blocked":         {refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched, drained(refitv1alpha1.DrainBlocked, 0), cliv1alpha1.ActivityDrain},
		"it is empty":                  {refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched, drained(refitv1alpha1.DrainDrained, 0), cliv1alpha1.ActivityDrain},
		"a drain for an earlier order": {refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched, drained(refitv1alpha1.DrainDraining, 7), cliv1alpha1.ActivityCordon},
		"its drain was given up":       {refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched, drained(refitv1alpha1.DrainFailed, 0), cliv1alpha1.ActivityFailed},
		"it changes":                   {refitv1alpha1.PermitApply, refitv1alpha1.NodeApplying, nil, cliv1alpha1.ActivityUpgrade},
		"it has not answered":          {refitv1alpha1.PermitApply, refitv1alpha1.NodeFailed, func(n *refitv1alpha1.NodeUpgrade) { n.Spec.Sequence = 9 }, cliv1alpha1.ActivityUpgrade},
		"it goes back by itself":       {refitv1alpha1.PermitApply, refitv1alpha1.NodeRollingBack, nil, cliv1alpha1.ActivityRollBack},
		"it rolls back":                {refitv1alpha1.PermitRollback, refitv1alpha1.NodeRollingBack, nil, cliv1alpha1.ActivityRollBack},
		"it is done":                   {refitv1alpha1.PermitApply, refitv1alpha1.NodeSucceeded, nil, cliv1alpha1.ActivityVerify},
		"it failed":                    {refitv1alpha1.PermitApply, refitv1alpha1.NodeFailed, nil, cliv1alpha1.ActivityFailed},
	} {
		t.Run(name, func(t *testing.T) {
			n := order("w1", "v1.37.1", c.permit, c.phase)
			if c.change != nil {
				c.change(n)
			}
			if got := NewNodeProgress("w1", n); got.Activity != c.want {
				t.Errorf("%+v, want %s", got, c.want)
			}
		})
	}
}

// The remaining time shrinks with each stage, with each node and with time, and is 0 while the
// operation is stalled or paused. By the defaults, the stages take 30, 120, 30, 120, 150 and 30 s:
// 8 minutes, which the plan estimates as 9.
func TestTimeLeft(t *testing.T) {
	ago := func(d time.Duration) *metav1.Time { return new(metav1.NewTime(noon.Add(-d))) }
	complete := func(stages []refitv1alpha1.StageSummary, n int) {
		for i := range n {
			stages[i].Done, stages[i].CompletionTime = stages[i].Total, ago(0)
		}
	}
	for name, c := range map[string]struct {
		phase  refitv1alpha1.Phase
		change func([]refitv1alpha1.StageSummary)
		want   time.Duration
	}{
		"at the beginning":             {refitv1alpha1.PhaseRunning, func([]refitv1alpha1.StageSummary) {}, 9 * time.Minute},
		"the first hop is done":        {refitv1alpha1.PhaseRunning, func(s []refitv1alpha1.StageSummary) { complete(s, 2) }, 371250 * time.Millisecond},
		"the first hop by its nodes":   {refitv1alpha1.PhaseRunning, func(s []refitv1alpha1.StageSummary) { s[0].Done, s[1].Done = 3, 1 }, 371250 * time.Millisecond},
		"a control plane node changes": {refitv1alpha1.PhaseRunning, func(s []refitv1alpha1.StageSummary) { complete(s, 1); s[1].StartTime = ago(time.Minute) }, 446250 * time.Millisecond},
		"it takes ever longer":         {refitv1alpha1.PhaseRunning, func(s []refitv1alpha1.StageSummary) { complete(s, 1); s[1].StartTime = ago(time.Hour) }, 384750 * time.Millisecond},
		"one of two workers is done, the other one late": {
			refitv1alpha1.PhaseRunning, func(s []refitv1alpha1.StageSummary) { complete(s, 4); s[4].Done, s[4].StartTime = 1, ago(time.Hour) }, 42187500 * time.Microsecond,
		},
		"the last stage is late": {refitv1alpha1.PhaseRunning, func(s []refitv1alpha1.StageSummary) { complete(s, 5); s[5].StartTime = ago(time.Hour) }, 3375 * time.Millisecond},
		"everything is done":     {refitv1alpha1.PhaseRunning, func(s []refitv1alpha1.StageSummary) { complete(s, 6) }, time.Second},
		"it is stalled":          {refitv1alpha1.PhaseStalled, func([]refitv1alpha1.StageSummary) {}, 0},
		"it is paused":           {refitv1alpha1.PhasePaused, func([]refitv1alpha1.StageSummary) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			u := upgrade()
			u.Status.Phase = c.phase
			c.change(u.Status.Plan.Stages)
			if got := left(u, noon).Round(time.Millisecond / 2); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// The remaining time never grows while an upgrade proceeds, whatever takes how long.
func TestTimeLeftNeverGrows(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 16))
		u, now := upgrade(), noon
		last := left(u, now)
		observe := func(what string) {
			if got := left(u, now); got > last {
				t.Fatalf("seed %d: %s, after %s at %s", seed, what, last, got)
			} else {
				last = got
			}
		}
		for i := range u.Status.Plan.Stages {
			s := &u.Status.Plan.Stages[i]
			s.StartTime = new(metav1.NewTime(now))
			observe("a stage started")
			for range max(s.Total, 1) {
				for range random.IntN(20) {
					now = now.Add(time.Duration(random.IntN(20)) * time.Second)
					observe("time passed")
				}
				s.Done = min(s.Done+1, s.Total)
				observe("a node was done")
			}
			s.CompletionTime = new(metav1.NewTime(now))
			observe("a stage was complete")
		}
	}
}

func TestAnUpgradeOfWorkersStartsAtTheirVersion(t *testing.T) {
	u := upgrade()
	u.Status.Plan.From, u.Status.Plan.WorkersFrom = "v1.36.3", "v1.35.4"
	for scope, want := range map[refitv1alpha1.Scope]string{refitv1alpha1.ScopeAll: "v1.36.3", refitv1alpha1.ScopeWorkers: "v1.35.4"} {
		u.Spec.Scope = scope
		if got := NewOperation("prod", u, nil, noon).From; got != want {
			t.Errorf("an upgrade of %s is from %s, want %s", scope, got, want)
		}
	}
}
