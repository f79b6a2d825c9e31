package plan

import (
	"slices"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Next decides what to do now. The Snapshot must be fresh and contain the operation, which has not
// ended: Tidy decides about one that has.
//
// A new leader must not call it on a Snapshot that is older than its own write of the epoch: a
// claim that its predecessor made later would look like one that has ended.
//
// Next first advances the active nodes, then starts what is new. While a gate holds the operation,
// nothing new starts, and the active nodes still reach a safe state.
//
// blocking is the preflight finding that keeps the operation from starting, nil if there is none.
func Next(p *Plan, s *cluster.Snapshot, now time.Time, blocking *Blocking) Decision {
	v := newView(p, s, now)
	v.blocking = blocking
	return next(v)
}

// Blocking is a preflight finding that keeps an operation from starting.
type Blocking struct{ Check, Message, Remedy string }

func next(v *view) Decision {
	d := &deciding{view: v}
	hold := d.hold()
	d.removeStrays()
	for _, name := range v.op.Active {
		d.advance(name, hold)
	}
	switch {
	case hold == nil:
		d.grant()
	case v.op.Spec.Aborted:
		d.endAborted()
	default:
		d.holdComponents(hold)
		rest := slices.DeleteFunc(d.waiting, func(w Wait) bool { return w == hold.wait })
		d.waiting = append([]Wait{hold.wait}, rest...)
	}
	d.reportUnwritable()
	return d.decision(hold)
}

// reportUnwritable replaces orders that name no machine, since the report of the node is missing,
// by what they wait for.
func (d *deciding) reportUnwritable() {
	d.actions = slices.DeleteFunc(d.actions, func(a Action) bool {
		n := d.nodes[a.Node]
		if n == nil || n.Report != nil || a.Kind != Hold && a.Kind != Rollback {
			return false
		}
		d.wait(*machineUnknown(d, n, 0))
		return true
	})
}

// hold is the reason why nothing new may start.
type hold struct {
	state State
	wait  Wait
}

// hold returns the reason why nothing new may start, nil if everything may.
func (d *deciding) hold() *hold {
	w := d.firstClosed(HeldOperation, nil, 0)
	if w == nil {
		return nil
	}
	h := &hold{state: w.state, wait: *w}
	h.wait.state = ""
	return h
}

// removeStrays uncordons nodes that the operation cordoned and has no claim on, such as one that a
// deposed leader cordoned late, and lets autoscalers remove them again. A host that is being
// changed keeps both, whatever became of its claim. An abandoned one keeps its cordon.
func (d *deciding) removeStrays() {
	for i := range d.s.Nodes {
		n := &d.s.Nodes[i]
		switch abandoned := d.abandoned(n); {
		case d.active[n.Name], d.changing(n) && !abandoned:
		case n.CordonedBy == d.op.UID && !abandoned:
			d.act(Uncordon, n, "the operation has no claim on it")
		case n.ProtectedBy == d.op.UID:
			d.act(Unprotect, n, "it is no longer active")
		}
	}
}

// decision returns the collected decision.
func (d *deciding) decision(h *hold) Decision {
	out := Decision{State: Running, Actions: d.actions, Waiting: d.waiting, Progress: d.progress(), Stages: d.stageProgress(), Failures: d.failures()}
	switch {
	case h != nil && h.state != Stalled && (h.state != Aborting || !d.needsIntervention()):
		out.State = h.state
	case d.needsIntervention():
		out.State = Stalled
	}
	out.Message, out.progressing = d.message(out), d.busy > 0
	out.LeftBehind = d.leftBehindAtEnd
	return out
}

// needsIntervention reports whether nothing progresses without manual intervention: all that is
// left is to repeat requests and drains.
func (d *deciding) needsIntervention() bool {
	for _, a := range d.actions {
		if a.Kind != RequestReport && a.Kind != Drain {
			return false
		}
	}
	if d.busy > 0 {
		return false
	}
	for _, w := range d.waiting {
		if w.ManualIntervention {
			return true
		}
	}
	return false
}

func (d *deciding) message(out Decision) string {
	if out.State == Running || out.State == Aborting {
		// A drain is requested on every decision; what it waits for is more informative.
		news := slices.DeleteFunc(slices.Clone(d.actions), func(a Action) bool { return a.Kind == Drain })
		if sentence := describeActions(news); sentence != "" {
			return sentence
		}
	}
	for _, w := range d.waiting {
		if out.State != Stalled || w.ManualIntervention {
			return w.Message
		}
	}
	return describeActions(d.actions)
}
