package node

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Move is what to do next.
type Move struct {
	Kind MoveKind
	Step Step
	// Open says that the step was begun before and not ended: the agent died in it. It is probed first.
	Open bool
	// Again says that the step failed before, and is tried once more.
	Again bool
	// Outcome is that of an End.
	Outcome refitv1alpha1.NodePhase
	// Why is the failure that a Return answers.
	Why *Failure
}

// MoveKind is what to do.
type MoveKind string

// The moves.
const (
	Rest   MoveKind = "Rest"   // nothing: the permit ends here, or a person must act
	Do     MoveKind = "Do"     // carry out a step
	Return MoveKind = "Return" // write down that from now on the host goes back
	Take   MoveKind = "Take"   // undo a step
	Keep   MoveKind = "Keep"   // leave a step as it is although the host goes back
	End    MoveKind = "End"    // write down the outcome
)

// Next is what to do, given the records of a journal. It remembers nothing and looks at nothing else, so an agent that was killed goes on exactly there.
func Next(records []Record) Move { return Read(records).Next() }

// Next is what to do in this state.
func (s *State) Next() Move {
	switch {
	case s.Work == nil || s.Ended != "":
		return Move{Kind: Rest}
	case s.PutBack:
		return s.back()
	case s.Order.Permit == refitv1alpha1.PermitRollback:
		return Move{Kind: Return}
	case s.Failure != nil:
		if s.Order.Rollback == refitv1alpha1.RollbackAuto && s.goesBackAlone() {
			return Move{Kind: Return, Why: s.Failure}
		}
		return Move{Kind: Rest}
	}
	return s.forward()
}

func (s *State) forward() Move {
	for _, step := range s.Steps {
		at := s.steps[step.Name]
		if at.done {
			continue
		}
		allowed := s.Order.Permit == refitv1alpha1.PermitApply || (step.Prefetch && s.Order.Permit == refitv1alpha1.PermitPrefetch)
		// A step that has begun is brought to its end, whatever the permit is by now, and so is a host from which something was taken away.
		if !allowed && !at.begun && !s.disrupted() {
			return Move{Kind: Rest}
		}
		return Move{Kind: Do, Step: step, Open: at.begun, Again: at.failed}
	}
	return Move{Kind: End, Outcome: refitv1alpha1.NodeSucceeded}
}

// disrupted says whether something that runs was, or is about to be, taken away.
func (s *State) disrupted() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Disrupts && s.steps[step.Name].begun })
}

// goesBackAlone says whether a failure puts the host back: one of a step that takes something away, while the kubelet, the last of them, is not proven. What
// fails elsewhere is done again once its cause is mended: what runs is well.
func (s *State) goesBackAlone() bool {
	at := slices.IndexFunc(s.Steps, func(step Step) bool { return step.Name == s.FailedStep })
	return at >= 0 && s.Steps[at].Disrupts && !s.Failure.Stay && !s.steps[StepKubelet].done
}

// back undoes the steps from the last to the first, then proves the host, then puts back what lies in the API. One that cannot be undone does not keep the
// others from it; then a person must look.
func (s *State) back() Move {
	for _, step := range slices.Backward(s.Steps) {
		if step.Undo != UndoCluster {
			if m, ok := s.take(step); ok {
				return m
			}
		}
	}
	if s.Failure != nil {
		return Move{Kind: Rest}
	}
	if s.Changed() {
		if m, ok := s.take(Step{Name: ProveOld, Undo: UndoRestore}); ok {
			return m
		}
	}
	for _, step := range slices.Backward(s.Steps) {
		if step.Undo == UndoCluster {
			if m, ok := s.take(step); ok {
				return m
			}
		}
	}
	if s.Failure != nil {
		return Move{Kind: Rest}
	}
	return Move{Kind: End, Outcome: refitv1alpha1.NodeRolledBack}
}

func (s *State) take(step Step) (Move, bool) {
	at := s.steps[step.Name]
	switch {
	case at.undone || at.undoFailed || step.Undo == UndoNothing:
		return Move{}, false
	case step.Name == ProveOld:
		return Move{Kind: Take, Step: step, Open: at.undoBegun}, true
	case !at.begun:
		return Move{}, false
	case step.Undo == UndoUnwell && at.done:
		return Move{Kind: Keep, Step: step}, true
	}
	return Move{Kind: Take, Step: step, Open: at.undoBegun}, true
}
