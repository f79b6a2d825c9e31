package plan

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// controller decides and acts: the leader, or a deposed one that has not noticed.
type controller struct {
	name  string
	epoch int64
	since time.Time     // of its newest view: a view may lag, but never becomes older
	view  *observation  // the view that it decides on
	fresh bool          // the view is current
	skew  time.Duration // how far its clock is ahead
}

// execute executes a decision as far as the fences allow. They refuse a write that names an old
// resourceVersion, a lower epoch or an old sequence.
func (w *world) execute(who *controller, d *Decision) {
	w.writeClaims(who, d)
	for i := range d.Actions {
		a := &d.Actions[i]
		if a.Kind == Claim || a.Kind == ReleaseNode {
			continue
		}
		done := w.act(who, a)
		w.count(done)
		w.narrate(who, a, done)
	}
}

func (w *world) count(done bool) {
	if done {
		w.tally.effects++
	} else {
		w.tally.refused++
	}
}

func (w *world) act(who *controller, a *Action) bool {
	switch a.Kind {
	case Finish:
		return w.finish(who)
	case CreateBackup:
		return w.createBackup(who, a.Backup)
	case DeleteBackup:
		return w.deleteBackup(a.Backup.Name, a.Backup.UID)
	case ApplyComponent, HoldComponent:
		return w.orderComponent(who, a.Component)
	}
	m := w.machine(a.Node)
	if m == nil {
		return false
	}
	observed := who.view.nodes[a.Node]
	switch a.Kind {
	case RequestReport:
		m.reportRequest = max(m.reportRequest, a.Request)
	case Prefetch, Apply, Rollback, Hold:
		return w.order(who, m, observed.upgrade, a)
	case Drain:
		return w.drainBehindFence(who, m, a)
	case StartTrial:
		return w.startTrial(who, m, observed.upgrade)
	case Skip, FailDrain:
		return w.mark(m, observed.upgrade, a.Kind)
	case Cordon, Uncordon:
		return w.cordon(who, m, observed.node, a.Kind == Cordon)
	case Protect, Unprotect:
		return w.protect(m, observed.node, a.Kind == Protect)
	default:
		panic("cannot execute " + a.Kind)
	}
	return true
}

// writeClaims changes status.active in one write.
func (w *world) writeClaims(who *controller, d *Decision) {
	active := slices.Clone(who.view.snapshot.Operation.Active)
	var claimed []*machine
	changed := false
	for i := range d.Actions {
		switch a := &d.Actions[i]; a.Kind {
		case Claim:
			if w.claimsRefused {
				continue
			}
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
		if a := &d.Actions[i]; a.Kind == Claim && !w.claimsRefused || a.Kind == ReleaseNode {
			w.count(done)
			w.narrate(who, a, done)
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
func (w *world) writeOperation(who *controller, change func()) bool {
	if who.view.op != w.op.version || who.epoch < w.op.Epoch || w.op.Ended {
		return false
	}
	change()
	w.op.version++
	return true
}

func (w *world) finish(who *controller) bool {
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

// order writes the spec of the NodeUpgrade.
func (w *world) order(who *controller, m *machine, version int64, a *Action) bool {
	observed := who.view.snapshot.Node(m.name)
	if version != m.upgradeVersion || observed.Report == nil || !w.ordersDeniedSince.IsZero() {
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
		w.violation("I6: an order to %s names no ClusterRelease", m.name)
		return false
	}
	sequence := max(next.Spec.Sequence, observed.Report.AcceptedSequence) + 1
	next.Spec = refitv1alpha1.NodeUpgradeSpec{
		Format: refitv1alpha1.MinOrderFormat, Operation: refitv1alpha1.Operation{Name: w.op.Name, UID: types.UID(w.op.UID)},
		NodeUID: types.UID(observed.UID), MachineID: observed.Report.MachineID, Sequence: sequence, Epoch: who.epoch, Attempt: a.Attempt,
		Role: a.Role, Release: *a.Release, Permit: permits[a.Kind], Rollback: w.op.Spec.Rollback, KeepAddons: a.KeepAddons,
		OrderTime: stamp(who.clock(w)),
	}
	if !a.NotAfter.IsZero() {
		next.Spec.NotAfter = stamp(a.NotAfter)
	}
	before := m.upgrade
	next.Generation++
	m.upgrade = &next
	m.upgradeVersion++
	w.checkOrder(who, m, a, before)
	return true
}

// drainBehindFence writes the drain's status first, naming the observed resourceVersion, and then
// evicts. Pods are deleted only if the operation's spec has not changed since the decision.
func (w *world) drainBehindFence(who *controller, m *machine, a *Action) bool {
	if m.upgrade == nil || who.view.nodes[m.name].upgrade != m.upgradeVersion {
		return false
	}
	if a.Delete && who.view.snapshot.Operation.Generation != w.op.Generation {
		return false
	}
	w.checkDrain(m)
	w.drainPods(who, m, a.Delete)
	return true
}

// mark records that a node was not drained.
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
	m.writeUpgrade(func(u *cluster.Upgrade) { u.Status.Drain = &status })
	return true
}

func (w *world) cordon(who *controller, m *machine, version int64, on bool) bool {
	if version != m.version || !w.deniedSince.IsZero() {
		return false
	}
	if on {
		w.checkCordon(who, m)
	} else {
		w.checkUncordon(m)
	}
	m.cordoned, m.cordonedBy, m.cordonedByUser = on, "", false
	if on {
		m.cordonedBy = w.op.UID
	}
	return w.protect(m, version, on)
}

// protect is part of a cordon, or a write of its own.
func (w *world) protect(m *machine, version int64, on bool) bool {
	if version != m.version || !w.deniedSince.IsZero() {
		return false
	}
	if m.protectedBy = ""; on {
		m.protectedBy = w.op.UID
	}
	m.version++
	return true
}

func patchesNode(kind ActionKind) bool {
	return kind == Cordon || kind == Uncordon || kind == Protect || kind == Unprotect
}

// highestEpoch is the highest epoch of the operation, of an order or of an order that an agent
// reports to have accepted.
func (w *world) highestEpoch() int64 {
	highest := w.op.Epoch
	for _, m := range w.machines {
		if m.upgrade != nil {
			highest = max(highest, m.upgrade.Spec.Epoch)
		}
		if m.report != nil {
			highest = max(highest, m.report.AcceptedEpoch)
		}
	}
	return highest
}

// takeOver makes a new leader. It raises the epoch first, then observes the cluster.
func (w *world) takeOver(name string) *controller {
	w.op.Epoch = w.highestEpoch() + 1
	w.op.version++
	return &controller{name: name, epoch: w.op.Epoch, since: w.now, skew: w.drawControllerSkew()}
}
