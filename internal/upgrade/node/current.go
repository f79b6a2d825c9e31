package node

import (
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Current is the step in progress.
type Current struct {
	Step string
	// Since is when the step started, or its undo.
	Since time.Time
	Undo  bool
}

// Current returns the step in progress, if there is one.
func (s *State) Current() (Current, bool) {
	if s.current == "" {
		return Current{}, false
	}
	at := s.steps[s.current]
	if at.undoStarted && s.RollingBack {
		return Current{Step: s.current, Since: at.undoStartedAt, Undo: true}, true
	}
	return Current{Step: s.current, Since: at.startedAt}, true
}

// Undone returns when the undo of a step started and ended; zero if it did not.
func (s *State) Undone(step string) (start, end time.Time) {
	at := s.steps[step]
	if at == nil {
		return time.Time{}, time.Time{}
	}
	return at.undoStartedAt, at.undoneAt
}

// RollsBack reports whether the host is rolled back without another order if the step in progress
// does not end before its timeout.
func (s *State) RollsBack() bool {
	if s.Outcome != "" || s.RollingBack || s.Order.Permit == refitv1alpha1.PermitRollback || s.Order.Rollback != refitv1alpha1.RollbackAuto {
		return false
	}
	at := slices.IndexFunc(s.Steps, func(step Step) bool { return step.Name == s.current })
	return at >= 0 && s.Steps[at].Disrupts && !s.steps[StepKubelet].done
}
