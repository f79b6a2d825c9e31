package plan

import (
	"fmt"
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Next decides what to do now. The Snapshot must be fresh and contain the operation.
//
// A new leader must not call it on a Snapshot that is older than its own write of the epoch: a
// claim that its predecessor made later would look like one that has ended.
//
// Next first advances the active nodes, then starts what is new. While a gate holds the operation,
// nothing new starts, and the active nodes still come to a safe state.
func Next(p *Plan, s *cluster.Snapshot, now time.Time) Decision { return next(newView(p, s, now)) }

func next(v *view) Decision {
	d := &deciding{view: v}
	if v.op.Ended {
		return d.ended()
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

// ended is the decision about an operation that has ended.
func (d *deciding) ended() Decision {
	d.removeStrayCordons()
	out := Decision{State: Aborted, Actions: d.actions, Message: "Aborted", Progress: d.progress(), Stages: d.stageProgress()}
	if !d.op.Spec.Aborted {
		out.State, out.Message = Succeeded, "Done: the cluster is at "+d.plan.To
	}
	return out
}

// hold is why nothing new may start.
type hold struct {
	state State
	wait  Wait
}

// deciding collects a decision.
type deciding struct {
	*view
	actions []Action
	waiting []Wait
	busy    int // active nodes that progress without manual intervention

	window *window       // of the workers that may be claimed
	slots  prefetchSlots // of the nodes that may prefetch
}

func (d *deciding) act(kind ActionKind, n *cluster.Node, format string, args ...any) *Action {
	d.actions = append(d.actions, Action{Kind: kind, Node: n.Name, Reason: fmt.Sprintf(format, args...)})
	return &d.actions[len(d.actions)-1]
}

// wait records what the operation waits for. Of thousands of nodes that wait for the same thing, it
// names the first few and counts the rest.
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

// command writes an order to a node's agent.
func (d *deciding) command(kind ActionKind, n *cluster.Node, hop int, why string) {
	a := d.act(kind, n, "%s", why)
	a.Release, a.Role, a.Attempt = d.plan.Hops[hop].Release, d.role(n, hop), d.op.Spec.Retry
	if a.KeepAddons = d.keepsAddons(hop); a.KeepAddons && kind == Apply && n.ControlPlane {
		a.Reason += "; add-ons are upgraded once workers have their images"
	}
	// A retry keeps the role of the first attempt: once the node's own API server is upgraded, the
	// node would no longer count as the first one.
	if order := d.order(n); order != nil && kind != Prefetch && d.ordered(n, hop) && order.Spec.Permit == refitv1alpha1.PermitApply {
		a.Role = order.Spec.Role
	}
}

// keepsAddons reports whether a hop does not upgrade the add-ons. They run on workers too, which
// have prefetched the images of the version they go to, not of the hops in between; the skew policy
// allows add-ons that are older than the API servers.
func (d *deciding) keepsAddons(hop int) bool {
	return hop < len(d.plan.Hops)-1 && d.workersHop(hop) != hop
}

// hold returns why nothing new may start, nil if everything may.
func (d *deciding) hold() *hold {
	w := d.firstClosed(HeldOperation, nil, 0)
	if w == nil {
		return nil
	}
	h := &hold{state: w.state, wait: *w}
	h.wait.state = ""
	return h
}

// removeStrayCordons uncordons nodes that the operation cordoned and has no claim on, such as one
// that a deposed leader cordoned late. A host that is being changed keeps its cordon, whatever
// became of its claim.
func (d *deciding) removeStrayCordons() {
	for i := range d.s.Nodes {
		if n := &d.s.Nodes[i]; n.CordonedBy == d.op.UID && !d.active[n.Name] && !d.changing(n) {
			d.act(Uncordon, n, "the operation has no claim on it")
		}
	}
}

// decision returns what was collected.
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
		// A drain is requested on every decision; what it waits for says more.
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
