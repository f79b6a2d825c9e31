package node

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Move is what to do next.
type Move struct {
	Kind MoveKind
	Step Step
	// Open is set if the step was started but not finished: the agent died in it. The agent probes
	// it first.
	Open bool
	// Retry is set if the step failed before.
	Retry bool
	// Outcome is the outcome of MoveFinish.
	Outcome refitv1alpha1.NodePhase
	// Cause is the failure that MoveRollback responds to.
	Cause *Failure
}

// MoveKind is the kind of a Move.
type MoveKind string

// The kinds of moves.
const (
	// Nothing to do: the permit ends here, or an operator has to act.
	MoveWait     MoveKind = "Wait"
	MoveRun      MoveKind = "Run"      // run a step
	MoveRollback MoveKind = "Rollback" // record that the host is rolled back from here on
	MoveUndo     MoveKind = "Undo"     // undo a step
	MoveKeep     MoveKind = "Keep"     // keep the change of a step during a rollback
	MoveFinish   MoveKind = "Finish"   // record the outcome
)

// Next returns the next move, given the records of a journal. It depends on nothing else, so an
// agent that was killed continues exactly where it stopped.
func Next(records []Record) Move { return Read(records).Next() }

// Next returns the next move in this state.
func (s *State) Next() Move {
	switch {
	case s.Upgrade == nil || s.Outcome != "":
		return Move{Kind: MoveWait}
	case s.RollingBack:
		return s.rollBack()
	case s.Order.Permit == refitv1alpha1.PermitRollback:
		return Move{Kind: MoveRollback}
	case s.Failure != nil:
		if s.Order.Rollback == refitv1alpha1.RollbackAuto && s.rollsBackAutomatically() {
			return Move{Kind: MoveRollback, Cause: s.Failure}
		}
		return Move{Kind: MoveWait}
	}
	return s.forward()
}

func (s *State) forward() Move {
	for i, step := range s.Steps {
		at := s.steps[step.Name]
		if at.done || s.passed(i) {
			continue
		}
		allowed := s.Order.Permit == refitv1alpha1.PermitApply || (step.Prefetch && s.Order.Permit == refitv1alpha1.PermitPrefetch)
		// A started step is always finished, whatever the permit is now, and so is a host that was
		// disrupted.
		if !allowed && !at.started && !s.disrupted() {
			return Move{Kind: MoveWait}
		}
		return Move{Kind: MoveRun, Step: step, Open: at.started, Retry: at.failed}
	}
	return Move{Kind: MoveFinish, Outcome: refitv1alpha1.NodeSucceeded}
}

// passed reports whether the journal has passed a step. An agent that did not know the step has
// started the upgrade: running it now would precede what is already swapped.
func (s *State) passed(i int) bool {
	at := s.steps[s.Steps[i].Name]
	return !at.done && !at.started && s.anyStarted(s.Steps[i+1:])
}

// Passed returns the steps that are never run, because the journal has passed them. During a
// rollback there are none.
func (s *State) Passed() (steps []Step) {
	for i, step := range s.Steps {
		if s.Outcome == "" && !s.RollingBack && s.passed(i) {
			steps = append(steps, step)
		}
	}
	return steps
}

func (s *State) anyStarted(steps []Step) bool {
	return slices.ContainsFunc(steps, func(step Step) bool { return s.steps[step.Name].started })
}

// disrupted reports whether a disruptive step has started.
func (s *State) disrupted() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Disrupts && s.steps[step.Name].started })
}

// Disrupted reports whether the steps of a status have disrupted their host and were not undone. An
// agent finishes such a host under any order.
func Disrupted(steps []refitv1alpha1.StepStatus) bool {
	return slices.ContainsFunc(steps, func(s refitv1alpha1.StepStatus) bool {
		at := slices.IndexFunc(all, func(step Step) bool { return step.Name == s.Name })
		return at >= 0 && all[at].Disrupts && s.State != refitv1alpha1.StepUndone
	})
}

// rollsBackAutomatically reports whether the failure rolls the host back: a disruptive step failed,
// and the kubelet, the last of them, is not verified. Other steps are retried once their cause is
// fixed: what runs is healthy.
func (s *State) rollsBackAutomatically() bool {
	at := slices.IndexFunc(s.Steps, func(step Step) bool { return step.Name == s.FailedStep })
	return at >= 0 && s.Steps[at].Disrupts && !s.Failure.NoRollback && !s.steps[StepKubelet].done
}

// rollBack undoes the steps in reverse order, then verifies the host, then undoes the changes to
// the cluster. A step that cannot be undone does not stop the others, but requires manual
// intervention.
func (s *State) rollBack() Move {
	for _, step := range slices.Backward(s.Steps) {
		if step.Undo != UndoCluster {
			if m, ok := s.undo(step); ok {
				return m
			}
		}
	}
	if s.Failure != nil {
		return Move{Kind: MoveWait}
	}
	if s.Changed() {
		if m, ok := s.undo(Step{Name: StepVerifyOld, Undo: UndoRestore}); ok {
			return m
		}
	}
	for _, step := range slices.Backward(s.Steps) {
		if step.Undo == UndoCluster {
			if m, ok := s.undo(step); ok {
				return m
			}
		}
	}
	if s.Failure != nil {
		return Move{Kind: MoveWait}
	}
	return Move{Kind: MoveFinish, Outcome: refitv1alpha1.NodeRolledBack}
}

func (s *State) undo(step Step) (Move, bool) {
	at := s.steps[step.Name]
	switch {
	case at.undone || at.undoFailed || step.Undo == UndoNothing:
		return Move{}, false
	case step.Name == StepVerifyOld:
		return Move{Kind: MoveUndo, Step: step, Open: at.undoStarted}, true
	case !at.started:
		return Move{}, false
	case step.Undo == UndoIfUnhealthy && at.done:
		return Move{Kind: MoveKeep, Step: step}, true
	}
	return Move{Kind: MoveUndo, Step: step, Open: at.undoStarted}, true
}
