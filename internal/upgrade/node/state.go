package node

import (
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// State is the state that the records of a journal lead to.
type State struct {
	Upgrade *Upgrade
	Steps   []Step
	Order   Order
	// Failure is the last failure, until an order with a higher attempt clears it.
	Failure       *Failure
	FailedStep    string
	FailedAt      time.Time
	RollingBack   bool
	Outcome       refitv1alpha1.NodePhase // empty until the upgrade is over
	StartTime     time.Time               // of the first change to the host
	FinishedAt    time.Time
	Left          []string // what the rollback left unchanged, each with the reason
	Boots         int      // how often the host booted during the upgrade
	lastBoot      string
	current       string
	steps         map[string]*stepState
	rollbackCause *Failure
	rollbackStep  string
	rollbackAt    time.Time
}

type stepState struct {
	started, done, failed, undoStarted, undoFailed, undone, kept bool
	startedAt, finishedAt, undoStartedAt, undoneAt               time.Time
}

// Read returns the state after these records.
func Read(records []Record) *State {
	s := &State{steps: map[string]*stepState{StepVerifyOld: {}}}
	for _, step := range all {
		s.steps[step.Name] = &stepState{}
	}
	for i := range records {
		s.add(&records[i])
	}
	return s
}

func (s *State) add(r *Record) {
	if r.Boot != "" && r.Boot != s.lastBoot {
		s.Boots, s.lastBoot = s.Boots+1, r.Boot
	}
	switch r.Kind {
	case Opened:
		s.Upgrade = r.Upgrade
		s.Steps = Steps(*r.Upgrade)
	case Ordered:
		if r.Order.concernsNoUpgrade() {
			s.Order.Permit, s.Order.Sequence, s.Order.Epoch = r.Order.Permit, r.Order.Sequence, r.Order.Epoch
			return
		}
		s.reopen(r.Order)
		if r.Order.Permit == refitv1alpha1.PermitRollback && s.Outcome == refitv1alpha1.NodeSucceeded {
			s.Outcome = "" // what was saved still exists: the whole upgrade is rolled back
		}
		s.Order = *r.Order
	case RollbackStarted:
		s.RollingBack, s.rollbackAt, s.StartTime = true, r.At, r.At
		s.rollbackCause, s.rollbackStep = s.Failure, s.FailedStep
		s.Failure, s.FailedStep = nil, ""
		s.current = ""
	case Finished:
		s.Outcome, s.FinishedAt, s.current = r.Outcome, r.At, ""
	case Started, Done, Failed, UndoStarted, Undone, Kept:
		s.addStep(r)
	}
}

// concernsNoUpgrade reports whether an order is about a backup, or withdraws one. It may have no
// operation, and must neither retry a failed upgrade nor change its policy.
func (o *Order) concernsNoUpgrade() bool {
	return o.Permit == refitv1alpha1.PermitBackup || o.Permit == refitv1alpha1.PermitHold && o.Operation == "" && !o.Manual
}

// reopen clears a failure: for a retry, another operation, an order to roll back, or an order that
// was given on the host.
func (s *State) reopen(next *Order) {
	other := next.Operation != s.Order.Operation || next.Permit != s.Order.Permit
	if other || next.Attempt > s.Order.Attempt {
		s.StartTime = time.Time{} // it is reported per order
	}
	back := next.Permit == refitv1alpha1.PermitRollback && s.Order.Permit != refitv1alpha1.PermitRollback
	if next.Manual || back || next.Operation != s.Order.Operation || next.Attempt > s.Order.Attempt {
		s.Failure, s.FailedStep = nil, ""
		for _, at := range s.steps {
			at.undoFailed = false
		}
	}
}

func (s *State) addStep(r *Record) {
	at := s.steps[r.Step]
	if at == nil { // a step of a newer agent
		at = &stepState{}
		s.steps[r.Step] = at
	}
	s.current = r.Step
	s.Left = append(s.Left, r.Left...)
	switch r.Kind {
	case Started:
		if !at.started || at.failed {
			at.startedAt, at.finishedAt = r.At, time.Time{}
		}
		at.started, at.failed = true, false
		if s.StartTime.IsZero() && !Prefetches(r.Step) {
			s.StartTime = r.At
		}
	case Done:
		at.started, at.done, at.finishedAt = true, true, r.At
		s.current = ""
	case Failed:
		at.failed, at.undoFailed, at.finishedAt = !s.RollingBack, s.RollingBack, r.At
		s.current = ""
		if s.RollingBack && s.Failure != nil {
			return // report the first undo that failed
		}
		s.Failure, s.FailedStep, s.FailedAt = r.Failure, r.Step, r.At
	case UndoStarted:
		at.undoStarted, at.undoStartedAt, at.undoneAt = true, r.At, time.Time{}
	case Undone:
		at.undone, at.kept, at.undoneAt = true, false, r.At
		s.current = ""
	case Kept:
		at.undone, at.kept = true, true
		s.current = ""
	case Opened, Ordered, RollbackStarted, Finished: // not about a step
	}
}

// Prefetches reports whether a step is part of the prefetch.
func Prefetches(name string) bool {
	for _, step := range all {
		if step.Name == name {
			return step.Prefetch
		}
	}
	return false
}

// IsDone reports whether a step is done.
func (s *State) IsDone(step string) bool { return s.steps[step] != nil && s.steps[step].done }

// Changed reports whether a step started that a rollback has to undo, so the host may have changed.
func (s *State) Changed() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Undo != UndoNothing && s.steps[step.Name].started })
}

// IsStarted reports whether a step has started.
func (s *State) IsStarted(step string) bool { return s.steps[step] != nil && s.steps[step].started }
