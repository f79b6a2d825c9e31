package component

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Read returns the journal in the status of a ComponentUpgrade. A failure is in force while the
// phase is Failed; the error of a rollback is only shown.
func Read(steps []Step, spec *refitv1alpha1.ComponentUpgradeSpec, status *refitv1alpha1.ComponentUpgradeStatus) State {
	s := State{Steps: steps, RollingBack: status.RollingBack, Permit: spec.Permit, Rollback: cmp.Or(spec.Rollback, refitv1alpha1.RollbackAuto)}
	if spec.NotAfter != nil {
		s.NotAfter = spec.NotAfter.UTC()
	}
	for _, step := range status.Steps {
		s.Records = append(s.Records, Record{Step: step.Name, State: recordStates[step.State]})
	}
	if e := status.Error; e != nil && status.Phase == refitv1alpha1.ComponentFailed {
		s.Failure = &Failure{Class: e.Class, Reason: e.Reason, Step: e.Step, Message: e.Message, Remedy: e.Remedy}
	}
	if f := status.Frozen; f != nil {
		s.Frozen = &Frozen{Since: f.Since.Time, Limit: f.Limit.Duration, Lifted: f.Lifted}
	}
	switch status.Phase {
	case refitv1alpha1.ComponentSucceeded:
		s.Outcome = Succeeded
	case refitv1alpha1.ComponentRolledBack:
		s.Outcome = RolledBack
	case refitv1alpha1.ComponentIdle, refitv1alpha1.ComponentApplying, refitv1alpha1.ComponentFailed, refitv1alpha1.ComponentRollingBack:
	}
	return s
}

var recordStates = map[refitv1alpha1.StepState]RecordState{
	refitv1alpha1.StepRunning: Running,
	refitv1alpha1.StepDone:    Done,
	refitv1alpha1.StepUndone:  Done,
	refitv1alpha1.StepFailed:  Failed,
}

// Write returns a status with the journal. Times of the old status are kept.
func (s State) Write(status refitv1alpha1.ComponentUpgradeStatus, now time.Time) refitv1alpha1.ComponentUpgradeStatus {
	at := metav1.NewTime(now.UTC().Truncate(time.Second))
	old := status.Steps
	status.Steps, status.Step = nil, ""
	for _, r := range s.Records {
		step := s.stepStatus(r, old, at)
		status.Steps = append(status.Steps, step)
		if step.State == refitv1alpha1.StepRunning {
			status.Step = step.Name
		}
		if status.StartTime == nil {
			status.StartTime = &at
		}
	}
	status.RollingBack, status.Frozen = s.RollingBack, nil
	if f := s.Frozen; f != nil {
		status.Frozen = &refitv1alpha1.FrozenStatus{
			Since: metav1.NewTime(f.Since.UTC().Truncate(time.Second)), Limit: metav1.Duration{Duration: f.Limit}, Lifted: f.Lifted,
		}
	}
	s.writeFailure(&status, at)
	phase := s.phase()
	if phase != status.Phase {
		status.CompletionTime = nil
	}
	final := s.Outcome != "" || phase == refitv1alpha1.ComponentFailed
	if final && status.CompletionTime == nil {
		status.CompletionTime = &at
	}
	status.Phase = phase
	return status
}

func (s State) phase() refitv1alpha1.ComponentPhase {
	switch {
	case s.Outcome == Succeeded:
		return refitv1alpha1.ComponentSucceeded
	case s.Outcome == RolledBack:
		return refitv1alpha1.ComponentRolledBack
	case s.Failure != nil:
		return refitv1alpha1.ComponentFailed
	case s.RollingBack:
		return refitv1alpha1.ComponentRollingBack
	case len(s.Records) == 0 && s.Permit != refitv1alpha1.PermitApply:
		return refitv1alpha1.ComponentIdle
	}
	return refitv1alpha1.ComponentApplying
}

// stepStatus returns the status of a record. A step whose undo is done is Undone.
func (s State) stepStatus(r Record, old []refitv1alpha1.StepStatus, at metav1.Time) refitv1alpha1.StepStatus {
	step := refitv1alpha1.StepStatus{Name: r.Step}
	if i := slices.IndexFunc(old, func(o refitv1alpha1.StepStatus) bool { return o.Name == r.Step }); i >= 0 {
		step = old[i]
	}
	before := recordStates[step.State]
	step.State = map[RecordState]refitv1alpha1.StepState{
		Running: refitv1alpha1.StepRunning, Done: refitv1alpha1.StepDone, Failed: refitv1alpha1.StepFailed,
	}[r.State]
	switch {
	case r.State == Running && before != Running:
		step.StartTime, step.CompletionTime = &at, nil
	case r.State != Running && (before == Running || before == ""):
		step.CompletionTime = &at
	}
	if r.State == Done && s.stateOf(undoName(r.Step)) == Done {
		step.State = refitv1alpha1.StepUndone
	}
	return step
}

// writeFailure writes the failure in force. During a rollback the error shows its cause.
func (s State) writeFailure(status *refitv1alpha1.ComponentUpgradeStatus, at metav1.Time) {
	f := s.Failure
	if f == nil {
		if !s.RollingBack {
			status.Error = nil
		}
		return
	}
	e := refitv1alpha1.NodeError{
		Class: f.Class, Reason: f.Reason, Step: f.Step, At: at,
		Message: refitv1alpha1.Clip(cmp.Or(f.Message, f.Reason), refitv1alpha1.MaxMessage),
		Remedy:  refitv1alpha1.Clip(cmp.Or(f.Remedy, "Fix the cause, then run `refit retry`"), refitv1alpha1.MaxMessage),
	}
	if was := status.Error; was != nil && was.Reason == e.Reason && was.Step == e.Step && was.Message == e.Message {
		e.At = was.At
	}
	status.Error = &e
}
