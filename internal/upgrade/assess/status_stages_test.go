package assess

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

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
		complete := prefetched == 2
		a.Decision.Stages = []plan.StageProgress{
			{Done: prefetched, Complete: complete}, {Complete: complete}, {Done: workers, Complete: complete && workers == 2}, {},
		}
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

// A worker that joins is not in the total, but the other nodes wait for its prefetch.
func TestAStageIsNotCompleteBeforeTheNodesThatJoined(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{}
	UpdateStatus(u, assessed(plan.Running, threeStages(1, 0)), statusTime)
	joined := func(a *Assessment) { a.Decision.Stages[0].Complete = false }
	UpdateStatus(u, assessed(plan.Running, threeStages(2, 0), joined), statusTime.Add(time.Minute))
	UpdateStatus(u, assessed(plan.Running, threeStages(2, 0)), statusTime.Add(2*time.Minute))
	if got, want := times(u.Status.Plan.Stages), "0..2 - 2.. -"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The span of an operation and `refit history` end with it, not with its last stall.
func TestAnAbortAfterAStallEndsWhenItIsWritten(t *testing.T) {
	for situation, update := range map[string]func(u *refitv1alpha1.ClusterUpgrade, a *Assessment, now time.Time){
		"the status": UpdateStatus,
		"a minimal status": func(u *refitv1alpha1.ClusterUpgrade, a *Assessment, now time.Time) {
			MinimalStatus(u, u.Status.DeepCopy(), a, errors.New("refused"), now)
		},
	} {
		u := &refitv1alpha1.ClusterUpgrade{}
		UpdateStatus(u, assessed(plan.Stalled), statusTime)
		for minute := 1; minute < 3; minute++ { // an operation that has ended is written again
			update(u, assessed(plan.Aborted), statusTime.Add(time.Duration(minute)*time.Minute))
		}
		reconciling := meta.FindStatusCondition(u.Status.Conditions, refitv1alpha1.ConditionReconciling)
		if got := reconciling.LastTransitionTime.Sub(statusTime); got != time.Minute || !u.HasEnded() {
			t.Errorf("%s: it ended after %s", situation, got)
		}
	}
}
