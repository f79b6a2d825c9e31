package node

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Late returns why a move may not start any more, or nil: the maintenance window of the order would
// close before the change ends. A host that was disrupted is finished, and so is a step that was
// started. The agent waits: the controller withdraws the order, and gives another one in the next
// window.
func (s *State) Late(m Move, now time.Time) *Failure {
	order := &s.Order
	switch {
	case order.NotAfter.IsZero() || !now.After(order.NotAfter):
		return nil
	case m.Kind != MoveRun || m.Open || s.disrupted() || !m.Step.changesHost():
		return nil
	}
	return Transient("WindowClosing", nil, "Nothing to do: the host is not disrupted, and is upgraded in the next maintenance window",
		"the change had to start by %s, and it is %s", order.NotAfter.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
}

// changesHost reports whether a step changes anything outside the files of the agent.
func (s *Step) changesHost() bool {
	return s.Undo != UndoNothing || s.Disrupts || s.API != InterruptsNothing
}

// NotAfter returns when the change of an order has to have started, zero if that does not matter.
func NotAfter(order *refitv1alpha1.NodeUpgradeSpec) time.Time {
	if order.NotAfter == nil {
		return time.Time{}
	}
	return order.NotAfter.UTC()
}
