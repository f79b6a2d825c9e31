package plan

import (
	"fmt"
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Next decides what to do now. The Snapshot must be fresh and hold the operation; it remembers nothing between two calls.
// A decider that takes over must see nothing that is older than its own write of the epoch: a claim that its predecessor made on newer facts would look
// like one that is done.
//
// First it brings on what has been begun, then it grants what is new: nothing new is begun while the operation is held, and nothing begun is left alone.
func Next(p *Plan, s *cluster.Snapshot, now time.Time) Decision { return next(newView(p, s, now)) }

func next(v *view) Decision {
	d := &deciding{view: v}
	switch {
	case v.op.Ended && v.op.Spec.Aborted:
		d.removeStrayCordons()
		return Decision{State: Aborted, Actions: d.actions, Message: "Aborted", Progress: v.progress(), Stages: v.stageProgress()}
	case v.op.Ended:
		d.removeStrayCordons()
		return Decision{State: Succeeded, Actions: d.actions, Message: fmt.Sprintf("Done: the cluster is at %s", v.plan.To), Progress: v.progress(), Stages: v.stageProgress()}
	}
	hold := d.hold()
	d.removeStrayCordons()
	for _, name := range v.op.Active {
		d.advance(name, hold)
	}
	switch {
	case hold == nil:
		d.grant()
	case v.op.Spec.Aborted:
		d.endAborted()
	default:
		rest := slices.DeleteFunc(d.waiting, func(w Wait) bool { return w == hold.wait })
		d.waiting = append([]Wait{hold.wait}, rest...)
	}
	return d.decision(hold)
}

// hold is why nothing new may be begun.
type hold struct {
	state State
	wait  Wait
}

// deciding gathers a decision.
type deciding struct {
	*view
	actions []Action
	waiting []Wait
	busy    int // nodes at work that need nobody

	window *window       // of the workers that may be claimed
	slots  prefetchSlots // of the nodes that may prefetch
}

func (d *deciding) act(kind ActionKind, n *cluster.Node, format string, args ...any) *Action {
	d.actions = append(d.actions, Action{Kind: kind, Node: n.Name, Reason: fmt.Sprintf(format, args...)})
	return &d.actions[len(d.actions)-1]
}

// wait notes something that is being waited for. Of five thousand nodes that wait for the same thing, the first few are named.
func (d *deciding) wait(w Wait) {
	const few = 10
	if w == (Wait{}) || slices.Contains(d.waiting, w) {
		return
	}
	same := 0
	for i := range d.waiting {
		if d.waiting[i].Reason == w.Reason && d.waiting[i].ManualIntervention == w.ManualIntervention {
			if same++; same == few {
				d.waiting[i].More++
				return
			}
		}
	}
	d.waiting = append(d.waiting, w)
}

// command orders a node's agent to do something.
func (d *deciding) command(kind ActionKind, n *cluster.Node, hop int, why string) {
	a := d.act(kind, n, "%s", why)
	a.Release, a.Role, a.Attempt = d.plan.Hops[hop].Release, d.role(n, hop), d.op.Spec.Retry
	if a.KeepAddons = d.keepsAddons(hop); a.KeepAddons && kind == Apply && n.ControlPlane {
		a.Reason += "; the add-ons wait until workers have their images"
	}
	// The role was decided when the node was ordered to change; once its own API server is new it would no longer look like the first.
	if order := d.order(n); order != nil && kind != Prefetch && d.ordered(n, hop) && order.Spec.Permit == refitv1alpha1.PermitApply {
		a.Role = order.Spec.Role
	}
}

// keepsAddons says whether a hop leaves the add-ons as they are. They run on workers, too, which have fetched what they go to and not what lies on the way
// there; and one that runs behind the API servers for a while is well within the skew policy.
func (d *deciding) keepsAddons(hop int) bool {
	return hop < len(d.plan.Hops)-1 && d.workersHop(hop) != hop
}

// hold finds the reason for which nothing new may be begun, nil if there is none.
func (d *deciding) hold() *hold {
	w := d.firstClosed(HeldOperation, nil, 0)
	if w == nil {
		return nil
	}
	h := &hold{state: w.state, wait: *w}
	h.wait.state = ""
	return h
}

// tidy lifts cordons of ours that no claim stands behind any more, such as one that was written by a decider with an old view. A host that is being
// changed keeps its cordon, whatever became of its claim.
func (d *deciding) removeStrayCordons() {
	for i := range d.s.Nodes {
		if n := &d.s.Nodes[i]; n.CordonedBy == d.op.UID && !d.active[n.Name] && !d.changing(n) {
			d.act(Uncordon, n, "the operation is not at work on it")
		}
	}
}

// decision sums up.
func (d *deciding) decision(h *hold) Decision {
	out := Decision{State: Running, Actions: d.actions, Waiting: d.waiting, Progress: d.progress(), Stages: d.stageProgress(), Failures: d.failures()}
	switch {
	case h != nil && h.state != Stalled && (h.state != Aborting || !d.needsIntervention()):
		out.State = h.state
	case d.needsIntervention():
		out.State = Stalled
	}
	out.Message = d.message(out)
	return out
}

// needsPerson says whether nothing moves any more without somebody: what is left to do is to go on asking, and somebody is being waited for.
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
		// A drain is asked for again and again; what it waits for tells more.
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

// progress counts the nodes that the plan touches.
func (v *view) progress() refitv1alpha1.NodeCounts {
	var out refitv1alpha1.NodeCounts
	last := len(v.plan.Hops) - 1
	for _, nodes := range [][]*cluster.Node{v.controlPlane, v.workers} {
		for _, n := range nodes {
			out.Total++
			switch {
			case v.failed(n):
				out.Failed++
			case v.settled(n, last):
				out.Done++
			case v.skipped(n):
				out.Skipped++
			}
		}
	}
	return out
}

// failures are the nodes that failed, at most as many as a status may hold.
func (v *view) failures() []refitv1alpha1.Failure {
	var out []refitv1alpha1.Failure
	for _, nodes := range [][]*cluster.Node{v.controlPlane, v.workers} {
		for _, n := range nodes {
			if v.failed(n) && len(out) < 20 {
				out = append(out, v.failure(n))
			}
		}
	}
	return out
}

func (v *view) failure(n *cluster.Node) refitv1alpha1.Failure {
	out := refitv1alpha1.Failure{Node: n.Name, Class: refitv1alpha1.FailureManualIntervention, Remedy: "mend the cause, then raise spec.retry (refit retry)"}
	if drain := v.drain(n); drain != nil && drain.Phase == refitv1alpha1.DrainFailed {
		out.Step, out.Message = "drain", "the node could not be emptied in time"
		if len(drain.Blockers) > 0 {
			out.Message += fmt.Sprintf(": %s: %s", drain.Blockers[0].Pod, drain.Blockers[0].Reason)
		}
		return out
	}
	if e := v.order(n).Status.Error; e != nil {
		out.Class, out.Step, out.Message = e.Class, e.Step, e.Message
		if e.Remedy != "" {
			out.Remedy = e.Remedy
		}
	}
	return out
}
