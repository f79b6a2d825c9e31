package node

import (
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func second(n int) time.Time { return time.Date(2026, 10, 1, 8, 0, n, 0, time.UTC) }

// Interruptions of the API server are reported to users, so each step has a decision.
func TestStepsThatInterruptTheAPIServer(t *testing.T) {
	want := map[string]Interruption{
		StepEtcd: InterruptsAPI, StepAPIServer: InterruptsAPI,
		StepPods: MayInterruptAPI, StepContainerd: MayInterruptAPI, StepKubelet: MayInterruptAPI,
	}
	for _, step := range all {
		if step.API != want[step.Name] {
			t.Errorf("%s: %q, want %q", step.Name, step.API, want[step.Name])
		}
		if step.API == InterruptsAPI && !step.Disrupts {
			t.Errorf("%s interrupts the API server and is not disruptive", step.Name)
		}
		if found, ok := StepOf(step.Name); !ok || found.Name != step.Name {
			t.Errorf("%s is not found", step.Name)
		}
	}
	if _, ok := StepOf("no-such-step"); ok {
		t.Error("found a step that does not exist")
	}
}

func TestCurrentStep(t *testing.T) {
	u := Upgrade{Role: refitv1alpha1.RoleFirstControlPlane, From: "v1.35.4", To: "v1.36.3", Etcd: true}
	order := &Order{Permit: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.RollbackAuto}
	records := []Record{{Kind: Opened, Upgrade: &u}, {Kind: Ordered, Order: order}}
	add := func(n int, kind Kind, step string) *State {
		records = append(records, Record{Kind: kind, Step: step, At: second(n), Failure: &Failure{}})
		return Read(records)
	}
	check := func(name string, s *State, want Current, rollsBack bool) {
		t.Helper()
		got, ok := s.Current()
		if got != want || ok != (want.Step != "") || s.RollsBack() != rollsBack {
			t.Errorf("%s: %+v, rolls back %t; want %+v, %t", name, got, s.RollsBack(), want, rollsBack)
		}
	}
	check("before the first", Read(records), Current{}, false)
	check("not disruptive", add(1, Started, StepRender), Current{Step: StepRender, Since: second(1)}, false)
	check("between two steps", add(2, Done, StepRender), Current{}, false)
	check("disruptive", add(3, Started, StepAPIServer), Current{Step: StepAPIServer, Since: second(3)}, true)
	check("failed", add(4, Failed, StepAPIServer), Current{}, false)
	check("rollback", add(5, RollbackStarted, ""), Current{}, false)
	check("undo", add(6, UndoStarted, StepAPIServer), Current{Step: StepAPIServer, Since: second(6), Undo: true}, false)
	s := add(7, Undone, StepAPIServer)
	check("undone", s, Current{}, false)
	if start, end := s.Undone(StepAPIServer); !start.Equal(second(6)) || !end.Equal(second(7)) {
		t.Errorf("undone from %s to %s", start, end)
	}
	order.Rollback = refitv1alpha1.RollbackManual
	records = records[:5]
	check("disruptive, without automatic rollback", Read(records), Current{Step: StepAPIServer, Since: second(3)}, false)
}
