package assess

import (
	"fmt"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// threeStages is a plan whose first two stages have done nodes of 2 each.
func threeStages(prefetched, workers int32) func(*Assessment) {
	return func(a *Assessment) {
		a.Plan.Stages = []plan.Stage{
			{Name: refitv1alpha1.StagePrefetch, Kubernetes: "v1.36.3", Nodes: make([]plan.NodeStep, 2)},
			{Name: refitv1alpha1.StageControlPlane, Kubernetes: "v1.36.3"},
			{Name: refitv1alpha1.StageWorkers, Kubernetes: "v1.36.3", Nodes: make([]plan.NodeStep, 2)},
			{Name: refitv1alpha1.StageVerify},
		}
		a.Decision.Stages = []plan.StageProgress{{Done: prefetched}, {}, {Done: workers}, {}}
	}
}

// times are the minutes at which the stages started and were complete.
func times(stages []refitv1alpha1.StageSummary) string {
	var out []string
	for i := range stages {
		s, text := &stages[i], "-"
		if s.StartTime != nil {
			text = fmt.Sprint(int(s.StartTime.Sub(statusTime).Minutes()), "..")
		}
		if s.CompletionTime != nil {
			text += fmt.Sprint(int(s.CompletionTime.Sub(statusTime).Minutes()))
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestStagesKeepWhenTheyStartedAndWereComplete(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{}
	for minute, step := range []struct {
		state               plan.State
		prefetched, workers int32
		want                string
	}{
		{plan.AwaitingApproval, 0, 0, "- - - -"},
		{plan.Running, 0, 0, "1.. - - -"},
		{plan.Running, 1, 0, "1.. - - -"},
		{plan.Paused, 2, 0, "1..3 - - -"},
		{plan.Paused, 2, 0, "1..3 - - -"},
		{plan.Running, 2, 0, "1..3 - 5.. -"},
		{plan.Stalled, 1, 1, "1..3 - 5.. -"}, // a node has to prefetch again
		{plan.Running, 2, 1, "1..3 - 5.. -"},
		{plan.Running, 2, 2, "1..3 - 5..8 8.."},
		{plan.Succeeded, 2, 2, "1..3 - 5..8 8..9"},
	} {
		UpdateStatus(u, assessed(step.state, threeStages(step.prefetched, step.workers)), statusTime.Add(time.Duration(minute)*time.Minute))
		if got := times(u.Status.Plan.Stages); got != step.want {
			t.Errorf("minute %d, %s: %s, want %s", minute, step.state, got, step.want)
		}
	}
}

func TestStagesOfAnAbortedOperationStayIncomplete(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{}
	UpdateStatus(u, assessed(plan.Running, threeStages(2, 0)), statusTime)
	UpdateStatus(u, assessed(plan.Aborted, threeStages(2, 1)), statusTime.Add(time.Minute))
	if got, want := times(u.Status.Plan.Stages), "0..0 - 0.. -"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAChangedPlanKeepsTheTimesOfItsStages(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{}
	UpdateStatus(u, assessed(plan.Running, threeStages(2, 0)), statusTime)
	fewer := func(a *Assessment) {
		a.Plan.Hash, a.Plan.Stages, a.Decision.Stages = "sha256:other", a.Plan.Stages[2:], a.Decision.Stages[2:]
	}
	UpdateStatus(u, assessed(plan.Running, threeStages(2, 0), fewer), statusTime.Add(time.Minute))
	if got, want := times(u.Status.Plan.Stages), "0.. -"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
