package component

import (
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// State is the journal of a component's upgrade, and the order for it.
type State struct {
	// Steps are those of the upgrade, as Compile returns them.
	Steps []Step
	// Records are the steps that were started.
	Records []Record
	// RollingBack is set once a rollback has started. It never goes forward again.
	RollingBack bool
	// Failure is why the last step failed. A retry clears it.
	Failure *Failure
	// Frozen is set from before the freeze exists until after it is lifted.
	Frozen *Frozen
	// Outcome is set at the end.
	Outcome Outcome

	// Permit is the order: Hold, Apply or Rollback.
	Permit refitv1alpha1.Permit
	// Rollback is whether failures roll back.
	Rollback refitv1alpha1.Rollback
	// NotAfter is when the first step has to have started, zero if that does not matter.
	NotAfter time.Time
}

// Record is the state of a started step.
type Record struct {
	Step  string
	State RecordState
}

// RecordState is the state of a step.
type RecordState string

// The states. A step without a record has not started.
const (
	Running RecordState = "Running" // started; its process may have died
	Done    RecordState = "Done"
	Failed  RecordState = "Failed" // ended without success, or interrupted; nothing of it runs any more
)

// Failure is why a step failed.
type Failure struct {
	Class  refitv1alpha1.FailureClass
	Reason string
	// Step is the step that failed, if one did.
	Step            string
	Message, Remedy string
}

// Frozen is a freeze.
type Frozen struct {
	Since time.Time
	Limit time.Duration
	// Lifted is set if the freeze was lifted at its limit, while a step was open. The upgrade fails
	// after that step.
	Lifted bool
}

// Outcome is how an upgrade ended.
type Outcome string

// The outcomes.
const (
	Succeeded  Outcome = "Succeeded"
	RolledBack Outcome = "RolledBack"
)

// Move is what to do next.
type Move struct {
	Kind MoveKind
	Step Step
	// Open is set if the step was started before: what it left is completed in the same direction.
	Open    bool
	Outcome Outcome
	Reason  string
}

// MoveKind is the kind of a Move.
type MoveKind string

// The kinds of moves.
const (
	// MoveWait does nothing: the permit ends here, or an operator has to act.
	MoveWait     MoveKind = "Wait"
	MoveRun      MoveKind = "Run"      // run a step
	MoveThaw     MoveKind = "Thaw"     // lift the freeze
	MoveFail     MoveKind = "Fail"     // record the failure in Reason
	MoveRollback MoveKind = "Rollback" // record that the component is rolled back from here on
	MoveFinish   MoveKind = "Finish"   // record the outcome
)

// ReasonFreezeLimit is the failure of an upgrade whose freeze lasted too long.
const ReasonFreezeLimit = "FreezeLimitExceeded"

// ReasonWindowClosing is why nothing starts: the maintenance window of the order would close first.
const ReasonWindowClosing = "WindowClosing"

// late reports whether nothing was started in time.
func (s State) late(now time.Time) bool {
	return len(s.Records) == 0 && !s.NotAfter.IsZero() && now.After(s.NotAfter)
}

// Next returns the next move. It depends on nothing but its arguments, so a process that was killed
// continues where it stopped.
//
// Two rules hold everywhere: an open step is completed before the direction changes, because Helm
// cannot turn around within a revision; and a freeze is lifted before every wait and every end. A
// step that only waits any more is completed by ending its wait, see Interrupt.
func Next(s State, now time.Time) Move {
	move := s.next(now)
	ends := move.Kind == MoveWait || move.Kind == MoveFinish
	if s.frozen() && (ends || s.overdue(now) && (s.RollingBack || s.open())) {
		return Move{Kind: MoveThaw, Reason: move.Reason}
	}
	return move
}

func (s State) next(now time.Time) Move {
	switch {
	case s.Outcome != "":
		return Move{Kind: MoveWait}
	case s.RollingBack:
		return s.back()
	case s.Failure != nil:
		if s.rollsBack() {
			return Move{Kind: MoveRollback, Reason: s.Failure.Reason}
		}
		return Move{Kind: MoveWait, Reason: s.Failure.Reason}
	case s.open():
		return s.forward()
	case s.overdue(now):
		return Move{Kind: MoveFail, Reason: ReasonFreezeLimit}
	case s.Permit == refitv1alpha1.PermitRollback && !s.committed():
		return Move{Kind: MoveRollback}
	case s.Permit != refitv1alpha1.PermitApply && !s.committed():
		return Move{Kind: MoveWait}
	case s.late(now):
		return Move{Kind: MoveWait, Reason: ReasonWindowClosing}
	}
	return s.forward()
}

func (s State) forward() Move {
	for i, step := range s.Steps {
		state := s.stateOf(step.Name)
		if state == Done || step.Kind == StepFreeze && state == "" && s.done(s.Steps[i+1:]) { // lifted at the end
			continue
		}
		return Move{Kind: MoveRun, Step: step, Open: state != ""}
	}
	return Move{Kind: MoveFinish, Outcome: Succeeded}
}

func (s State) done(steps []Step) bool {
	return !slices.ContainsFunc(steps, func(step Step) bool { return s.stateOf(step.Name) != Done })
}

// back continues a rollback. A freeze that lasts too long is lifted, and the rollback goes on: what
// runs is in between two versions.
func (s State) back() Move {
	if s.Failure != nil {
		return Move{Kind: MoveWait, Reason: s.Failure.Reason}
	}
	for _, step := range Rollback(s.Steps) {
		state := s.stateOf(step.Name)
		if state == Done || step.Of != "" && s.stateOf(step.Of) == "" {
			continue
		}
		return Move{Kind: MoveRun, Step: step, Open: state != ""}
	}
	return Move{Kind: MoveFinish, Outcome: RolledBack}
}

// rollsBack reports whether the failure rolls the component back: an operator ordered it, or
// something changed that is not committed.
func (s State) rollsBack() bool {
	automatic := s.Rollback == refitv1alpha1.RollbackAuto && s.changed()
	return !s.committed() && (automatic || s.Permit == refitv1alpha1.PermitRollback)
}

// committed reports whether the point of no return is passed.
func (s State) committed() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Kind == StepCommit && s.stateOf(step.Name) != "" })
}

// changed reports whether a step has started that changes what runs.
func (s State) changed() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Changes && s.stateOf(step.Name) != "" })
}

// open reports whether a step of the upgrade is running, or its process died in it.
func (s State) open() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return s.stateOf(step.Name) == Running })
}

// frozen reports whether a freeze is in force.
func (s State) frozen() bool { return s.Frozen != nil && !s.Frozen.Lifted }

func (s State) overdue(now time.Time) bool {
	return s.Frozen != nil && now.Sub(s.Frozen.Since) > s.Frozen.Limit
}

func (s State) stateOf(step string) RecordState {
	for _, r := range s.Records {
		if r.Step == step {
			return r.State
		}
	}
	return ""
}
