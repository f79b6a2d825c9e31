package node

import (
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// TestNothingStartsAfterTheEndOfTheWindow goes through all steps of a host, with the end of its
// time before each of them.
func TestNothingStartsAfterTheEndOfTheWindow(t *testing.T) {
	until := time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)
	upgrade := &Upgrade{Role: refitv1alpha1.RoleFirstControlPlane, Etcd: true, Parts: []refitv1alpha1.Part{refitv1alpha1.PartContainerd, refitv1alpha1.PartRunc, refitv1alpha1.PartCNI}}
	records := []Record{
		{Kind: Opened, Upgrade: upgrade},
		{Kind: Ordered, Order: &Order{Permit: refitv1alpha1.PermitApply, NotAfter: until}},
	}
	started, disrupted := map[string]bool{}, false
	for {
		state := Read(records)
		move := state.Next()
		if move.Kind != MoveRun {
			break
		}
		step := &move.Step
		if late := state.Late(move, until.Add(time.Second)); late == nil && !disrupted && (step.Disrupts || step.API != InterruptsNothing || step.Undo != UndoNothing) {
			t.Errorf("%s starts too late", step.Name)
		} else if late != nil && disrupted {
			t.Errorf("%s does not start, and the host is disrupted: %s", step.Name, late.Message)
		} else if late != nil && late.Class != refitv1alpha1.FailureTransient {
			t.Errorf("%s fails: %s", step.Name, late.Message)
		}
		if late := state.Late(move, until); late != nil {
			t.Errorf("%s does not start in time: %s", step.Name, late.Message)
		}
		records = append(records, Record{Kind: Started, Step: step.Name})
		if open := Read(records); open.Late(open.Next(), until.Add(time.Hour)) != nil {
			t.Errorf("%s was started and is not finished", step.Name)
		}
		records = append(records, Record{Kind: Done, Step: step.Name})
		started[step.Name], disrupted = true, disrupted || step.Disrupts
	}
	for _, name := range []string{StepFetch, StepPods, StepEtcd, StepKubelet, StepVerify} {
		if !started[name] {
			t.Errorf("the test has no step %s", name)
		}
	}
}

func TestARollbackIsNeverLate(t *testing.T) {
	until := time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)
	state := Read([]Record{
		{Kind: Opened, Upgrade: &Upgrade{Role: refitv1alpha1.RoleWorker}},
		{Kind: Ordered, Order: &Order{Permit: refitv1alpha1.PermitApply, NotAfter: until}},
		{Kind: Started, Step: StepKubelet},
		{Kind: RollbackStarted},
	})
	if move := state.Next(); move.Kind != MoveUndo || state.Late(move, until.Add(time.Hour)) != nil {
		t.Errorf("got %+v", move)
	}
}

func TestAnOrderWithoutAWindowIsNeverLate(t *testing.T) {
	state := Read([]Record{
		{Kind: Opened, Upgrade: &Upgrade{Role: refitv1alpha1.RoleWorker}}, {Kind: Ordered, Order: &Order{Permit: refitv1alpha1.PermitApply}},
	})
	if late := state.Late(Move{Kind: MoveRun, Step: Step{Name: StepKubelet, Disrupts: true}}, time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)); late != nil {
		t.Error(late.Message)
	}
}
