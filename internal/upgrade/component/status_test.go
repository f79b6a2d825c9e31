package component

import (
	"reflect"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The journal survives the status at every write of every scenario, as a process that is killed
// reads it.
func TestJournalIsTheSameAfterItWasStored(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			w := newWorld(t, s.fails)
			var status refitv1alpha1.ComponentUpgradeStatus
			for range 200 {
				spec := &refitv1alpha1.ComponentUpgradeSpec{Permit: w.journal.Permit, Rollback: w.journal.Rollback}
				status = w.journal.Write(status, w.now)
				if got := Read(w.journal.Steps, spec, &status); !reflect.DeepEqual(Next(got, w.now), Next(w.journal, w.now)) {
					t.Fatalf("stored %+v, next %+v instead of %+v", status, Next(got, w.now), Next(w.journal, w.now))
				}
				move := Next(w.journal, w.now)
				if move.Kind == MoveWait {
					break
				}
				w.act(move)
			}
			if w.journal.Outcome == "" && s.retries == 0 && s.orders == nil {
				t.Errorf("it ended without an outcome: %+v", status)
			}
		})
	}
}

func TestStatusOfAFailureThatRollsBack(t *testing.T) {
	w := newWorld(t, nil)
	step := w.journal.Steps[0]
	journal := w.journal.Start(step)
	status := journal.Write(refitv1alpha1.ComponentUpgradeStatus{}, w.now)
	if status.Phase != refitv1alpha1.ComponentApplying || status.Step != "check" || status.Steps[0].StartTime == nil || status.StartTime == nil {
		t.Errorf("running: %+v", status)
	}
	journal = journal.End(step, &Failure{Class: refitv1alpha1.FailureManualIntervention, Reason: "PlanChanged", Message: strings.Repeat("x", 1000)})
	status = journal.Write(status, w.now.Add(time.Minute))
	if status.Phase != refitv1alpha1.ComponentFailed || status.Error.Step != "check" || len([]rune(status.Error.Message)) != 256 || status.Error.Remedy == "" ||
		status.CompletionTime == nil || status.Steps[0].CompletionTime == nil {
		t.Errorf("failed: %+v", status)
	}
	back := journal.RollBack().Write(status, w.now.Add(2*time.Minute))
	if back.Phase != refitv1alpha1.ComponentRollingBack || back.Error == nil || back.CompletionTime != nil {
		t.Errorf("rolling back: %+v", back)
	}
	if read := Read(w.journal.Steps, &refitv1alpha1.ComponentUpgradeSpec{}, &back); read.Failure != nil {
		t.Error("the cause of a rollback is read as a failure of it")
	}
	if again := journal.Retry().Write(status, w.now); again.Error != nil || again.Phase != refitv1alpha1.ComponentApplying && again.Phase != refitv1alpha1.ComponentIdle {
		t.Errorf("retried: %+v", again)
	}
}

func TestAccept(t *testing.T) {
	order := func(change func(*refitv1alpha1.ComponentUpgradeSpec)) *refitv1alpha1.ComponentUpgradeSpec {
		spec := &refitv1alpha1.ComponentUpgradeSpec{
			Operation: refitv1alpha1.Operation{Name: "up", UID: "1"}, Sequence: 5, Epoch: 2, Release: refitv1alpha1.ReleaseRef{Name: "r", Digest: "sha256:1"},
			Version: "2.0.0", Action: refitv1alpha1.ActionUpgrade, Digest: "sha256:2", Permit: refitv1alpha1.PermitApply,
		}
		if change != nil {
			change(spec)
		}
		return spec
	}
	running := func(phase refitv1alpha1.ComponentPhase, steps ...string) refitv1alpha1.ComponentUpgradeStatus {
		status, _ := Accept(order(nil), refitv1alpha1.ComponentUpgradeStatus{})
		status.Phase = phase
		for _, name := range steps {
			status.Steps = append(status.Steps, refitv1alpha1.StepStatus{Name: name, State: refitv1alpha1.StepDone})
		}
		if phase == refitv1alpha1.ComponentFailed {
			status.Error = &refitv1alpha1.NodeError{Reason: "X"}
		}
		return status
	}
	changed := running(refitv1alpha1.ComponentApplying, "check", "save", "crds")
	open := running(refitv1alpha1.ComponentApplying, "check")
	open.Steps[0].State = refitv1alpha1.StepRunning
	for _, c := range []struct {
		name    string
		status  refitv1alpha1.ComponentUpgradeStatus
		change  func(*refitv1alpha1.ComponentUpgradeSpec)
		refused string
		journal int64
		phase   refitv1alpha1.ComponentPhase
	}{
		{name: "first order", change: func(*refitv1alpha1.ComponentUpgradeSpec) {}, journal: 5, phase: refitv1alpha1.ComponentIdle},
		{name: "the same order again", status: changed, journal: 5, phase: refitv1alpha1.ComponentApplying},
		{name: "older sequence", status: changed, change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence = 4 }, refused: RefusedSequence},
		{name: "older epoch", status: changed, change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Epoch = 6, 1 }, refused: RefusedEpoch},
		{
			name: "another permit continues", status: changed, journal: 5, phase: refitv1alpha1.ComponentApplying,
			change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Permit = 6, refitv1alpha1.PermitHold },
		},
		{name: "another version is refused", status: changed, change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Version = 6, "3.0.0" }, refused: RefusedBusy},
		{name: "another action is refused", status: changed, change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Action = 6, refitv1alpha1.ActionRemove }, refused: RefusedBusy},
		{
			name: "another release is refused", status: running(refitv1alpha1.ComponentFailed, "check", "wave-all"), refused: RefusedBusy,
			change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Release.Digest = 6, "sha256:3" },
		},
		{
			name: "another release after a failed check", status: running(refitv1alpha1.ComponentFailed, "check"), journal: 6, phase: refitv1alpha1.ComponentIdle,
			change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Release.Digest = 6, "sha256:3" },
		},
		{
			name: "another digest after a failed check", status: running(refitv1alpha1.ComponentFailed, "check"), journal: 6, phase: refitv1alpha1.ComponentIdle,
			change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Digest = 6, "sha256:3" },
		},
		{
			name: "another operation continues the same change", status: running(refitv1alpha1.ComponentFailed, "wave-all"), journal: 5, phase: refitv1alpha1.ComponentApplying,
			change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Operation.UID = 6, "2" },
		},
		{
			name: "another operation after a failed check", status: running(refitv1alpha1.ComponentFailed, "check"), journal: 6, phase: refitv1alpha1.ComponentIdle,
			change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Operation.UID = 6, "2" },
		},
		{
			name: "another operation during a check", status: open, journal: 6, phase: refitv1alpha1.ComponentIdle,
			change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Operation.UID = 6, "2" },
		},
		{
			name: "another operation repeats a change that was undone", status: running(refitv1alpha1.ComponentSucceeded, "wave-all"), journal: 6,
			phase: refitv1alpha1.ComponentIdle, change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Operation.UID = 6, "2" },
		},
		{
			name: "retry", status: running(refitv1alpha1.ComponentFailed, "wave-all"), journal: 5, phase: refitv1alpha1.ComponentApplying,
			change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Attempt = 6, 1 },
		},
		{
			name: "a failure without a retry", status: running(refitv1alpha1.ComponentFailed, "wave-all"), journal: 5, phase: refitv1alpha1.ComponentFailed,
			change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence = 6 },
		},
		{
			name: "retry after a rollback", status: running(refitv1alpha1.ComponentRolledBack, "wave-all"), journal: 6, phase: refitv1alpha1.ComponentIdle,
			change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Attempt = 6, 1 },
		},
		{
			name: "another permit after the end", status: running(refitv1alpha1.ComponentSucceeded, "wave-all"), journal: 5, phase: refitv1alpha1.ComponentSucceeded,
			change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Permit = 6, refitv1alpha1.PermitHold },
		},
		{
			name: "another version after the end", status: running(refitv1alpha1.ComponentSucceeded, "wave-all"), journal: 6, phase: refitv1alpha1.ComponentIdle,
			change: func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Sequence, s.Version = 6, "3.0.0" },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := order(c.change)
			got, refusal := Accept(spec, c.status)
			switch {
			case c.refused != "" && (refusal == nil || refusal.Reason != c.refused):
				t.Errorf("%+v, want %s", refusal, c.refused)
			case c.refused != "":
			case refusal != nil || got.Journal != c.journal || got.Phase != c.phase || got.ObservedSequence != spec.Sequence || got.Order.Epoch != spec.Epoch ||
				got.Journal == spec.Sequence && got.Order.Operation != spec.Operation:
				t.Errorf("%+v %+v", got, refusal)
			}
		})
	}
}

func TestConditionsOfPhases(t *testing.T) {
	for phase, want := range map[refitv1alpha1.ComponentPhase]string{
		refitv1alpha1.ComponentIdle: "", refitv1alpha1.ComponentApplying: "Reconciling", refitv1alpha1.ComponentRollingBack: "Reconciling",
		refitv1alpha1.ComponentSucceeded: "Ready", refitv1alpha1.ComponentFailed: "Stalled", refitv1alpha1.ComponentRolledBack: "Stalled",
	} {
		status := refitv1alpha1.ComponentUpgradeStatus{Phase: phase}
		Conditions(&status, 3, nil, time.Unix(1e9, 0))
		got := ""
		for _, c := range status.Conditions {
			if c.Status == "True" && c.Type != refitv1alpha1.ConditionAccepted {
				got += c.Type
			}
		}
		if got != want || len(status.Conditions) != 4 || status.ObservedGeneration != 3 {
			t.Errorf("%s: %s, want %s", phase, got, want)
		}
	}
	status := refitv1alpha1.ComponentUpgradeStatus{Phase: refitv1alpha1.ComponentApplying}
	Conditions(&status, 3, &Refusal{RefusedBusy, "x"}, time.Unix(1e9, 0))
	if status.Conditions[0].Status != "False" || status.Conditions[0].Reason != RefusedBusy {
		t.Errorf("%+v", status.Conditions)
	}
}
