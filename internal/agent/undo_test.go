package agent

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// withWork gives an agent an operation that has ended, and whose saved state an older agent wrote.
func withWork(t *testing.T, a *Agent, outcome refitv1alpha1.NodePhase) {
	t.Helper()
	order := goodOrder("sha256:aa").Spec
	work := node.Upgrade{Operation: order.Operation, Release: order.Release, NodeUID: nodeUID, NodeName: nodeName, Role: order.Role, From: "v1.35.4", To: "v1.36.3"}
	dir := filepath.Join(a.Settings.UpgradesDir(), "work-1")
	if err := os.MkdirAll(filepath.Join(dir, "saved"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "saved", "index.json"), []byte(`{"format":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(filepath.Join(dir, "journal"), machineID, node.Record{Kind: node.Opened, Upgrade: &work})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	log := slog.New(slog.DiscardHandler)
	a.work = &runner{
		journal: j, log: log, told: func(*node.State) {},
		host: &steps.Host{Settings: a.Settings, Upgrade: work, Dir: dir, Log: log},
	}
	for _, r := range []node.Record{
		{Kind: node.Ordered, Order: &node.Order{Operation: order.Operation.UID, Sequence: 7, Epoch: 3, Permit: refitv1alpha1.PermitApply}},
		{Kind: node.Started, Step: node.StepKubelet},
		{Kind: node.Done, Step: node.StepKubelet},
		{Kind: node.Finished, Outcome: outcome},
	} {
		if err := a.work.write(r); err != nil {
			t.Fatal(err)
		}
	}
	a.memory.Last = "work-1"
}

// A successful operation that cannot be rolled back safely stays as it is: the order fails before
// anything is started.
func TestUnsafeRollbackOrderIsRefusedBeforeAnything(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	withWork(t, a, refitv1alpha1.NodeSucceeded)
	before := len(a.work.journal.Records())
	order := goodOrder("sha256:aa")
	order.Spec.Permit = refitv1alpha1.PermitRollback
	if err := a.accept(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	answer := a.memory.Result
	if answer == nil || answer.Phase != refitv1alpha1.NodeFailed || answer.Failure.Reason != "SavedTooOld" || answer.Failure.Remedy == "" {
		t.Errorf("answered %+v", answer)
	}
	if a.memory.Open != "" || len(a.work.journal.Records()) != before || node.Read(a.work.journal.Records()).Outcome != refitv1alpha1.NodeSucceeded {
		t.Error("the rollback was started")
	}
	// An order to apply again reports what is done, and needs no saved state.
	order = goodOrder("sha256:aa")
	order.Spec.Sequence = 9
	if err := a.accept(t.Context(), order); err != nil || a.memory.Result != nil || a.memory.Open != "" {
		t.Errorf("%v, %+v", err, a.memory)
	}
}

// An operation that was rolled back already is reported as such, whatever was saved.
func TestRollbackOrderAfterARollback(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	withWork(t, a, refitv1alpha1.NodeRolledBack)
	order := goodOrder("sha256:aa")
	order.Spec.Permit = refitv1alpha1.PermitRollback
	if err := a.accept(t.Context(), order); err != nil || a.memory.Result != nil || a.memory.Open != "" {
		t.Errorf("%v, %+v", err, a.memory)
	}
}

func TestReviewIsOfFinishedOperationsOnly(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	withWork(t, a, refitv1alpha1.NodeSucceeded)
	status := LocalStatus{Memory: a.memory, State: node.Read(a.work.journal.Records())}
	if review := Review(t.Context(), a.Settings, status); review.Refusal == nil || review.Refusal.Reason != "SavedTooOld" {
		t.Errorf("%+v", review)
	}
	for _, state := range []*node.State{nil, node.Read(a.work.journal.Records()[:3])} {
		if review := Review(t.Context(), a.Settings, LocalStatus{State: state}); review.Refusal != nil {
			t.Errorf("%+v", review)
		}
	}
}
