package component

import (
	"slices"
	"time"
)

// Start returns the journal after the start of a step. It is stored before the step does anything.
func (s State) Start(step Step) State { return s.record(step.Name, Running) }

// End returns the journal after the end of a step.
func (s State) End(step Step, failure *Failure) State {
	if failure != nil {
		failed := *failure
		failed.Step = step.Name
		s.Failure = &failed
		return s.record(step.Name, Failed)
	}
	return s.record(step.Name, Done)
}

// Interrupt returns the journal after the wait of a step was ended, because the order no longer
// permits the step. Its writes are complete, so it is as one that did not become ready in time: it
// is run again later, or undone.
func (s State) Interrupt(step Step) State { return s.record(step.Name, Failed) }

// Freeze returns the journal before a freeze comes into force. A rollback has forgotten the one
// that has reached its limit.
func (s State) Freeze(now time.Time, limit time.Duration) State {
	if s.Frozen == nil || s.Frozen.Lifted && s.RollingBack {
		s.Frozen = &Frozen{Since: now, Limit: limit}
	}
	return s
}

// Thaw returns the journal after a freeze was lifted. The freeze is run again if the upgrade goes
// on. One that has reached its limit is not forgotten until a retry, unless its own step is open:
// that would create the freeze again.
func (s State) Thaw(now time.Time) State {
	if s.overdue(now) && !s.RollingBack && !s.freezing() {
		lifted := *s.Frozen
		lifted.Lifted = true
		s.Frozen = &lifted
		return s
	}
	return s.forgetFreeze()
}

// Fail returns the journal after a failure that no step caused.
func (s State) Fail(failure Failure) State {
	s.Failure = &failure
	return s
}

// RollBack returns the journal from which on the component is rolled back.
func (s State) RollBack() State {
	s.RollingBack, s.Failure = true, nil
	return s
}

// Finish returns the journal of an upgrade that has ended.
func (s State) Finish(outcome Outcome) State {
	s.Outcome = outcome
	return s
}

// Retry returns the journal after an operator has fixed the cause of a failure.
func (s State) Retry() State {
	s.Failure = nil
	if s.Frozen != nil && s.Frozen.Lifted {
		return s.forgetFreeze()
	}
	return s
}

// forgetFreeze has the step of the freeze run again. It needs no recipe: there is one at most, and
// its name is its kind.
func (s State) forgetFreeze() State {
	s.Frozen = nil
	s.Records = slices.DeleteFunc(slices.Clone(s.Records), func(r Record) bool { return r.Step == string(StepFreeze) })
	return s
}

// freezing reports whether the step of the freeze is open.
func (s State) freezing() bool {
	return slices.ContainsFunc(s.Records, func(r Record) bool { return r.State == Running && r.Step == string(StepFreeze) })
}

func (s State) record(step string, state RecordState) State {
	s.Records = slices.Clone(s.Records)
	for i := range s.Records {
		if s.Records[i].Step == step {
			s.Records[i].State = state
			return s
		}
	}
	s.Records = append(s.Records, Record{Step: step, State: state})
	return s
}
