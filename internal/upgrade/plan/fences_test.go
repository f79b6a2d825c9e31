package plan

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// decider is somebody who decides and acts: the leader, or one who was and does not know it yet.
type decider struct {
	name  string
	epoch int64
	since time.Time // it took over then, or has seen that already: a view may lag, and never goes back
	view  *sighting // what it decides on
	fresh bool      // that is how the world is at this very moment
}

// carryOut does what was decided, as far as the fences let it: a write that names an older version than the stored one, a lower epoch or an old
// sequence is refused, as the API server does.
func (w *world) carryOut(who *decider, d *Decision) {
	w.claimAndFree(who, d)
	for i := range d.Actions {
		a := &d.Actions[i]
		if a.Kind == Claim || a.Kind == ReleaseNode {
			continue
		}
		done := w.act(who, a)
		w.count(done)
		w.told(who, a, done)
	}
}

func (w *world) count(done bool) {
	if done {
		w.tally.effects++
	} else {
		w.tally.refused++
	}
}

func (w *world) act(who *decider, a *Action) bool {
	if a.Kind == Finish {
		return w.finish(who)
	}
	m := w.machine(a.Node)
	if m == nil {
		return false
	}
	seen := who.view.nodes[a.Node]
	switch a.Kind {
	case RequestReport:
		m.asked = max(m.asked, a.Request)
	case Prefetch, Apply, Rollback, Hold:
		return w.order(who, m, seen.upgrade, a)
	case Drain:
		return w.drainBehindFence(who, m, a)
	case StartTrial:
		return w.beginTrial(m, seen.upgrade)
	case Skip, FailDrain:
		return w.mark(m, seen.upgrade, a.Kind)
	case Cordon, Uncordon:
		return w.cordon(who, m, seen.node, a.Kind == Cordon)
	default:
		panic("nobody can carry out " + a.Kind)
	}
	return true
}

// claimAndFree changes the list of nodes at work, in one write.
func (w *world) claimAndFree(who *decider, d *Decision) {
	active := slices.Clone(who.view.snapshot.Operation.Active)
	var claimed []*machine
	changed := false
	for i := range d.Actions {
		switch a := &d.Actions[i]; a.Kind {
		case Claim:
			active, changed = append(active, a.Node), true
			if m := w.machine(a.Node); m != nil {
				claimed = append(claimed, m)
			}
		case ReleaseNode:
			active, changed = slices.DeleteFunc(active, func(name string) bool { return name == a.Node }), true
		}
	}
	if !changed {
		return
	}
	done := w.writeOperation(who, func() { w.op.Active = active })
	for i := range d.Actions {
		if a := &d.Actions[i]; a.Kind == Claim || a.Kind == ReleaseNode {
			w.count(done)
			w.told(who, a, done)
			if done && a.Kind == ReleaseNode {
				w.checkDone(who, a.Node)
			}
		}
	}
	if done {
		for _, m := range claimed {
			m.since.claimed = w.now
		}
		w.checkClaims(who, claimed)
	}
}

// writeOperation is an update of the ClusterUpgrade's status.
func (w *world) writeOperation(who *decider, change func()) bool {
	if who.view.op != w.op.version || who.epoch < w.op.Epoch || w.op.Ended {
		return false
	}
	change()
	w.op.version++
	return true
}

func (w *world) finish(who *decider) bool {
	return w.writeOperation(who, func() {
		w.op.Ended, w.op.end = true, Succeeded
		if w.op.Spec.Aborted {
			w.op.end = Aborted
		}
		w.checkEnd(who)
	})
}

var permits = map[ActionKind]refitv1alpha1.Permit{
	Prefetch: refitv1alpha1.PermitPrefetch, Apply: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.PermitRollback, Hold: refitv1alpha1.PermitHold,
}

// order writes the NodeUpgrade's spec.
func (w *world) order(who *decider, m *machine, version int64, a *Action) bool {
	seen := who.view.snapshot.Node(m.name)
	if version != m.upgradeVersion || seen.Report == nil {
		return false
	}
	next := cluster.Upgrade{}
	if m.upgrade != nil {
		if who.epoch < m.upgrade.Spec.Epoch {
			return false
		}
		next = *m.upgrade
	}
	if a.Release == nil {
		w.broke("I6: an order to %s names no ClusterRelease", m.name)
		return false
	}
	sequence := max(next.Spec.Sequence, seen.Report.AcceptedSequence) + 1
	next.Spec = refitv1alpha1.NodeUpgradeSpec{
		Format: refitv1alpha1.MinOrderFormat, Operation: refitv1alpha1.Operation{Name: w.op.Name, UID: types.UID(w.op.UID)},
		NodeUID: types.UID(seen.UID), MachineID: seen.Report.MachineID, Sequence: sequence, Epoch: who.epoch, Attempt: a.Attempt,
		Role: a.Role, Release: *a.Release, Permit: permits[a.Kind], Rollback: w.op.Spec.Rollback, KeepAddons: a.KeepAddons,
		OrderTime: stamp(w.now),
	}
	before := m.upgrade
	m.upgrade = &next
	m.upgradeVersion++
	w.checkOrder(who, m, a, before)
	return true
}

// drainBehindFence writes the drain's status first, by a write that names the version that was seen, and then evicts. Pods are deleted only while the
// operation says what it said when that was decided.
func (w *world) drainBehindFence(who *decider, m *machine, a *Action) bool {
	if m.upgrade == nil || who.view.nodes[m.name].upgrade != m.upgradeVersion {
		return false
	}
	if a.Delete && who.view.snapshot.Operation.Generation != w.op.Generation {
		return false
	}
	w.checkDrain(m)
	w.empty(m, a.Delete)
	return true
}

// mark writes that a node could not be emptied.
func (w *world) mark(m *machine, version int64, kind ActionKind) bool {
	if m.upgrade == nil || version != m.upgradeVersion {
		return false
	}
	status := refitv1alpha1.DrainStatus{Sequence: m.upgrade.Spec.Sequence}
	if m.upgrade.Status.Drain != nil {
		status = *m.upgrade.Status.Drain
	}
	status.Phase, status.CompletionTime = refitv1alpha1.DrainSkipped, stamp(w.now)
	if kind == FailDrain {
		status.Phase = refitv1alpha1.DrainFailed
	}
	m.write(func(u *cluster.Upgrade) { u.Status.Drain = &status })
	return true
}

func (w *world) cordon(who *decider, m *machine, version int64, on bool) bool {
	if version != m.version {
		return false
	}
	if on {
		w.checkCordon(who, m)
	} else {
		w.checkUncordon(m)
	}
	m.cordoned, m.cordonedBy, m.byHand = on, "", false
	if on {
		m.cordonedBy = w.op.UID
	}
	m.version++
	return true
}

// takeOver makes a new leader: it raises the epoch first, by a live read and a write that names what was read, and then looks at everything anew.
func (w *world) takeOver(name string) *decider {
	w.op.Epoch++
	w.op.version++
	return &decider{name: name, epoch: w.op.Epoch, since: w.now}
}
