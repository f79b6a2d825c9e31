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

// withUpgrade gives an agent a finished upgrade whose saved state an older agent wrote.
func withUpgrade(t *testing.T, a *Agent, outcome refitv1alpha1.NodePhase) {
	t.Helper()
	order := goodOrder("sha256:aa").Spec
	upgrade := node.Upgrade{Operation: order.Operation, Release: order.Release, NodeUID: nodeUID, NodeName: nodeName, Role: order.Role, From: "v1.35.4", To: "v1.36.3"}
	dir := filepath.Join(a.Settings.UpgradesDir(), "upgrade-1")
	if err := os.MkdirAll(filepath.Join(dir, "saved"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "saved", "index.json"), []byte(`{"format":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(filepath.Join(dir, "journal"), machineID, node.Record{Kind: node.Opened, Upgrade: &upgrade})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	log := slog.New(slog.DiscardHandler)
	a.upgrade = &runner{
		journal: j, log: log, changed: func(*node.State) {},
		host: &steps.Host{Settings: a.Settings, Upgrade: upgrade, Dir: dir, Log: log},
	}
	for _, r := range []node.Record{
		{Kind: node.Ordered, Order: &node.Order{Operation: order.Operation.UID, Sequence: 7, Epoch: 3, Permit: refitv1alpha1.PermitApply}},
		{Kind: node.Started, Step: node.StepKubelet},
		{Kind: node.Done, Step: node.StepKubelet},
		{Kind: node.Finished, Outcome: outcome},
	} {
		if err := a.upgrade.write(r); err != nil {
			t.Fatal(err)
		}
	}
	a.state.Last = "upgrade-1"
}

// A successful operation that cannot be rolled back safely stays as it is: the order fails before
// anything is started.
func TestUnsafeRollbackOrderIsRefusedBeforeAnything(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	withUpgrade(t, a, refitv1alpha1.NodeSucceeded)
	before := len(a.upgrade.journal.Records())
	order := goodOrder("sha256:aa")
	order.Spec.Permit = refitv1alpha1.PermitRollback
	if err := a.accept(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	result := a.state.Result
	if result == nil || result.Phase != refitv1alpha1.NodeFailed || result.Failure.Reason != "SavedTooOld" || result.Failure.Remedy == "" {
		t.Errorf("got %+v", result)
	}
	if a.state.Open != "" || len(a.upgrade.journal.Records()) != before || node.Read(a.upgrade.journal.Records()).Outcome != refitv1alpha1.NodeSucceeded {
		t.Error("the rollback was started")
	}
	// An order to apply again reports what is done, and needs no saved state.
	order = goodOrder("sha256:aa")
	order.Spec.Sequence = 9
	if err := a.accept(t.Context(), order); err != nil || a.state.Result != nil || a.state.Open != "" {
		t.Errorf("%v, %+v", err, a.state)
	}
}

// An operation that was rolled back already is reported as such, whatever was saved.
func TestRollbackOrderAfterARollback(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	withUpgrade(t, a, refitv1alpha1.NodeRolledBack)
	order := goodOrder("sha256:aa")
	order.Spec.Permit = refitv1alpha1.PermitRollback
	if err := a.accept(t.Context(), order); err != nil || a.state.Result != nil || a.state.Open != "" {
		t.Errorf("%v, %+v", err, a.state)
	}
}

func TestReviewIsOfFinishedOperationsOnly(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	withUpgrade(t, a, refitv1alpha1.NodeSucceeded)
	status := LocalStatus{Host: a.state, State: node.Read(a.upgrade.journal.Records())}
	if review := Review(t.Context(), a.Settings, status); review.Refusal == nil || review.Refusal.Reason != "SavedTooOld" {
		t.Errorf("%+v", review)
	}
	for _, state := range []*node.State{nil, node.Read(a.upgrade.journal.Records()[:3])} {
		if review := Review(t.Context(), a.Settings, LocalStatus{State: state}); review.Refusal != nil {
			t.Errorf("%+v", review)
		}
	}
}
