package node

import (
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// State is what the records of a journal say.
type State struct {
	Work  *Work
	Steps []Step
	Order Order
	// Failure is the last one, until an order with a higher attempt clears it.
	Failure     *Failure
	FailedStep  string
	FailedAt    time.Time
	PutBack     bool
	Ended       refitv1alpha1.NodePhase
	StartTime   time.Time // of the first change to the host
	EndedAt     time.Time
	Left        []string // what the rollback left as it is, each with the reason
	Boots       int      // how many boots of the host the work has seen
	lastBoot    string
	current     string
	steps       map[string]*stepState
	whyPutBack  *Failure
	stepPutBack string
	putBackAt   time.Time
}

type stepState struct {
	begun, done, failed, undoBegun, undoFailed, undone, kept bool
	beganAt, endedAt                                         time.Time
}

// Read tells from its records where a journal is.
func Read(records []Record) *State {
	s := &State{steps: map[string]*stepState{ProveOld: {}}}
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
		s.Work = r.Work
		s.Steps = Steps(*r.Work)
	case Ordered:
		s.reopen(r.Order)
		if r.Order.Permit == refitv1alpha1.PermitRollback && s.Ended == refitv1alpha1.NodeSucceeded {
			s.Ended = "" // what was saved is still there: the work is taken back as a whole
		}
		s.Order = *r.Order
	case PutBack:
		s.PutBack, s.putBackAt, s.StartTime = true, r.At, r.At
		s.whyPutBack, s.stepPutBack = s.Failure, s.FailedStep
		s.Failure, s.FailedStep = nil, ""
		s.current = ""
	case Ended:
		s.Ended, s.EndedAt, s.current = r.Outcome, r.At, ""
	case Begun, Done, Failed, UndoBegun, Undone, Kept:
		s.addStep(r)
	}
}

// reopen sets a failure aside: by a retry, by another operation that goes on, by an order to put the host back, or by a person on the host.
func (s *State) reopen(next *Order) {
	other := next.Operation != s.Order.Operation || next.Permit != s.Order.Permit
	if other || next.Attempt > s.Order.Attempt {
		s.StartTime = time.Time{} // it is told of each order anew
	}
	back := next.Permit == refitv1alpha1.PermitRollback && s.Order.Permit != refitv1alpha1.PermitRollback
	if next.ByHand || back || next.Operation != s.Order.Operation || next.Attempt > s.Order.Attempt {
		s.Failure, s.FailedStep = nil, ""
		for _, at := range s.steps {
			at.undoFailed = false
		}
	}
}

func (s *State) addStep(r *Record) {
	at := s.steps[r.Step]
	if at == nil { // a step of an agent that knew more: its end is not ours to judge
		at = &stepState{}
		s.steps[r.Step] = at
	}
	s.current = r.Step
	s.Left = append(s.Left, r.Left...)
	switch r.Kind {
	case Begun:
		if !at.begun || at.failed {
			at.beganAt, at.endedAt = r.At, time.Time{}
		}
		at.begun, at.failed = true, false
		if s.StartTime.IsZero() && !prefetches(r.Step) {
			s.StartTime = r.At
		}
	case Done:
		at.begun, at.done, at.endedAt = true, true, r.At
		s.current = ""
	case Failed:
		at.failed, at.undoFailed, at.endedAt = !s.PutBack, s.PutBack, r.At
		s.current = ""
		if s.PutBack && s.Failure != nil {
			return // the first thing that could not be undone is the one to tell
		}
		s.Failure, s.FailedStep, s.FailedAt = r.Failure, r.Step, r.At
	case UndoBegun:
		at.undoBegun = true
	case Undone:
		at.undone, at.kept = true, false
		s.current = ""
	case Kept:
		at.undone, at.kept = true, true
		s.current = ""
	case Opened, Ordered, PutBack, Ended: // not about a step
	}
}

func prefetches(name string) bool {
	for _, step := range all {
		if step.Name == name {
			return step.Prefetch
		}
	}
	return false
}

// IsDone says whether a step is done.
func (s *State) IsDone(step string) bool { return s.steps[step] != nil && s.steps[step].done }

// Changed says whether anything has begun that would have to be undone, so that the host may not be what it was.
func (s *State) Changed() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Undo != UndoNothing && s.steps[step.Name].begun })
}

// IsBegun says whether a step has begun.
func (s *State) IsBegun(step string) bool { return s.steps[step] != nil && s.steps[step].begun }
