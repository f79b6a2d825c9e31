package plan

import (
	"fmt"
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// The invariants are those of faults.md. They are checked on what is true, at every effect. What a decider with an old view may do is bounded by the
// fences alone, so promises about the rest of the cluster (is etcd well, is another node away) are asked of a fresh one only.

// grace is how long facts may lag behind: an agent's facts may be as old as freshness when a decision uses them.
const grace = maxReportAge + 4*tick

func (w *world) broke(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.breaks = append(w.breaks, fmt.Sprintf("%s  %s", clock(w.now), text))
	w.tell("!! BROKEN: %s", text)
}

func (w *world) require(holds bool, format string, args ...any) {
	if !holds {
		w.broke(format, args...)
	}
}

// checkDecision: an operation is never silent (I8).
func (w *world) checkDecision(d *Decision) {
	w.require(d.State.Ended() || len(d.Actions)+len(d.Waiting) > 0, "I8: nothing to do and nothing to wait for, and the operation has not ended")
	w.require(d.Message != "", "I8: nobody is told what is being done")
	person := false
	for i := range d.Waiting {
		wait := &d.Waiting[i]
		w.require(wait.Reason != "" && wait.Message != "", "I8: a wait without words: %+v", *wait)
		w.require(!wait.ManualIntervention || wait.Remedy != "", "I8: a person is needed and not told what for: %s", wait.Message)
		person = person || wait.ManualIntervention
	}
	w.require(d.State != Stalled || person, "I8: stalled, and nobody is asked")
	for i := range d.Actions {
		w.require(d.Actions[i].Reason != "", "I8: %s %s without a reason", d.Actions[i].Kind, d.Actions[i].Node)
	}
}

// checkClaims: nothing new while the operation is held, one control plane node at a time (I1), and no more workers than maxUnavailable (I2).
func (w *world) checkClaims(who *decider, claimed []*machine) {
	spec, active := &w.op.Spec, w.op.Active
	if len(claimed) == 0 {
		return
	}
	w.require(!spec.Aborted, "a claim although the operation was aborted")
	w.require(!spec.Paused, "a claim although the operation is paused")
	w.require(spec.Approval == refitv1alpha1.ApprovalNone || spec.ApprovedPlan != "", "a claim that nobody approved")
	w.require(len(active) <= refitv1alpha1.MaxActive, "%d nodes are claimed, and the status can hold %d", len(active), refitv1alpha1.MaxActive)
	for i, name := range active {
		w.require(!slices.Contains(active[:i], name), "%s is claimed twice", name)
	}
	w.checkControlPlaneAlone()
	w.checkWindow(who, claimed)
	if !who.fresh {
		return
	}
	w.require(w.older == "", "a claim although an older operation is unfinished")
	for _, m := range w.machines {
		w.require(!w.failed(m), "a claim although %s has failed", m.name)
	}
	for _, m := range claimed {
		w.require(m.ready, "%s is claimed although it is not ready", m.name)
		if m.controlPlane {
			w.checkControlPlaneWell(m)
		} else {
			w.checkCanary(m)
		}
	}
}

func (w *world) checkControlPlaneAlone() {
	for _, name := range w.op.Active {
		if m := w.machine(name); m != nil && m.controlPlane && len(w.op.Active) > 1 {
			w.broke("I1: %s of the control plane is not the only node at work: %v", name, w.op.Active)
		}
	}
}

// checkWindow compares with the pool as the decider saw it: its size may have changed since.
func (w *world) checkWindow(who *decider, claimed []*machine) {
	spec := policy.Defaulted(w.op.Spec)
	for i := range spec.Pools {
		var size, ours, anyone int
		var zones []string
		for j := range who.view.snapshot.Nodes {
			n := &who.view.snapshot.Nodes[j]
			if n.ControlPlane || policy.PoolOf(&spec, n) != i {
				continue
			}
			size++
			switch {
			case slices.Contains(w.op.Active, n.Name):
				ours++
				anyone++
				if !slices.Contains(zones, n.Zone) {
					zones = append(zones, n.Zone)
				}
			case !n.IsReady() && !policy.Waived(&spec, policy.CheckNodeNotReady, policy.NodeObject(n.Name)),
				n.Unschedulable && !policy.Waived(&spec, policy.CheckNodeCordoned, policy.NodeObject(n.Name)):
				anyone++
			}
		}
		if !slices.ContainsFunc(claimed, func(m *machine) bool {
			return !m.controlPlane && policy.PoolOf(&spec, &cluster.Node{Labels: m.labels}) == i
		}) {
			continue
		}
		limit := policy.MaxUnavailable(&spec.Pools[i], size)
		w.require(ours <= limit, "I2: %d nodes of pool %s are at work, and %d may be unavailable", ours, spec.Pools[i].Name, limit)
		w.require(!who.fresh || anyone <= limit, "I2: %d nodes of pool %s are unavailable or at work, and %d may be", anyone, spec.Pools[i].Name, limit)
		w.require(!who.fresh || len(zones) == 1, "pool %s is at work in the zones %v at once", spec.Pools[i].Name, zones)
	}
}

// checkControlPlaneWell: every member, API server and node of the control plane is well before one more goes (I1).
func (w *world) checkControlPlaneWell(next *machine) {
	well := 0
	w.checkMembers(next, w.now.Add(-grace))
	for _, m := range w.machines {
		if !m.controlPlane || (m == next && w.changed(m)) {
			continue
		}
		w.require(m.ready, "I1: %s goes although %s of the control plane is not ready", next.name, m.name)
		w.require(m.up && m.apiServer.well(), "I1: %s goes although the API server on %s is not ready", next.name, m.name)
		if m != next && (m.member() || w.now.Sub(m.etcd.illAt) < grace) {
			well++
		}
	}
	if w.external || len(w.members) == 1 || (len(w.members) == 2 && well == 1 && policy.WaivedAnywhere(&w.op.Spec, policy.CheckTwoMembers)) {
		return
	}
	w.require(well > len(w.members)/2, "I1: with %s away, %d of %d etcd members are left", next.name, well, len(w.members))
}

// checkMembers: every etcd member answers before and after each control plane node, as of some moment.
func (w *world) checkMembers(turn *machine, asOf time.Time) {
	for _, m := range w.machines {
		if m.etcd.version != "" && m != turn && !m.member() && m.etcd.illAt.Before(asOf) {
			w.broke("I1: %s has its turn, and the etcd member on %s has not answered for %s", turn.name, m.name, w.now.Sub(m.etcd.illAt))
		}
	}
}

// checkDone: a control plane node is done when the whole control plane was seen to be well after its change (I1).
func (w *world) checkDone(who *decider, name string) {
	m := w.machine(name)
	w.require(m == nil || !w.changing(m), "%s is freed while its agent may be changing it", name)
	if m == nil || !who.fresh || m.upgrade == nil || m.upgrade.Status.Phase != refitv1alpha1.NodeSucceeded || string(m.upgrade.Spec.NodeUID) != m.uid {
		return
	}
	w.require(m.ready, "%s is done and not ready", name)
	if !m.controlPlane {
		return
	}
	w.checkMembers(m, m.upgrade.Status.CompletionTime.Time)
	for _, other := range w.machines {
		w.require(!other.controlPlane || other.up && other.apiServer.well(), "I1: %s is done, and the API server on %s is not ready", name, other.name)
	}
	w.checkTried(m)
}

// checkTried: a control plane node gets no pods, and is not done, while pods on it have been cut off since before its change ended (I1).
func (w *world) checkTried(m *machine) {
	u := m.upgrade
	if !m.controlPlane || m.trial.cut.IsZero() || w.op.Spec.Aborted || u == nil || string(u.Spec.NodeUID) != m.uid ||
		u.Spec.Permit != refitv1alpha1.PermitApply || u.Status.ObservedSequence != u.Spec.Sequence || u.Status.Phase != refitv1alpha1.NodeSucceeded {
		return
	}
	w.require(m.trial.cut.After(u.Status.CompletionTime.Time), "I1: %s is given pods, and they have reached nothing since %s", m.name, clock(m.trial.cut))
}

// changed says whether the host is in the middle of a change that failed.
func (w *world) changed(m *machine) bool { return m.agent.old != nil }

func (w *world) failed(m *machine) bool {
	u := m.upgrade
	if u == nil || string(u.Spec.NodeUID) != m.uid || u.Status.ObservedSequence != u.Spec.Sequence || u.Spec.Attempt < w.op.Spec.Retry {
		return false
	}
	drain := u.Status.Drain
	return u.Status.Phase == refitv1alpha1.NodeFailed || u.Status.Phase == refitv1alpha1.NodeRolledBack ||
		(drain != nil && drain.Sequence == u.Spec.Sequence && drain.Phase == refitv1alpha1.DrainFailed)
}

// checkCanary: no more nodes than the canary's are at the new version or on their way before these have been healthy for the soak.
func (w *world) checkCanary(next *machine) {
	spec := policy.Defaulted(w.op.Spec)
	at := func(m *machine) int { return policy.PoolOf(&spec, &cluster.Node{Labels: m.labels}) }
	rules := spec.Pools[at(next)].Canary
	if rules == nil {
		return
	}
	proven, begun := 0, 0
	for _, m := range w.machines {
		if m.controlPlane || at(m) != at(next) || m.upgrade == nil || m.upgrade.Spec.Release != next.upgrade.Spec.Release || string(m.upgrade.Spec.NodeUID) != m.uid {
			continue
		}
		done := m.upgrade.Status.Phase == refitv1alpha1.NodeSucceeded && m.upgrade.Status.ObservedSequence == m.upgrade.Spec.Sequence
		if slices.Contains(w.op.Active, m.name) || done {
			begun++
		}
		if done && m.ready && w.now.Sub(m.upgrade.Status.CompletionTime.Time) >= rules.Soak.Duration {
			proven++
		}
	}
	w.require(proven >= int(rules.Nodes) || begun <= int(rules.Nodes), "%s is claimed, and the canary is not proven: %d begun, %d proven", next.name, begun, proven)
}

// checkOrder: a host is changed only when it is claimed, fetched and empty (I4), and never two of the control plane (I1).
func (w *world) checkOrder(who *decider, m *machine, a *Action, before *cluster.Upgrade) {
	spec := &w.op.Spec
	if string(m.upgrade.Spec.NodeUID) != m.uid {
		return // it is for the node that had this name before, and no agent accepts it
	}
	w.require(spec.Approval == refitv1alpha1.ApprovalNone || spec.ApprovedPlan != "" || !who.fresh || (a.Kind != Prefetch && a.Kind != Apply), "an order that nobody approved")
	if a.Kind != Apply && a.Kind != Rollback {
		w.require(!w.changed(m) || a.Kind == Rollback, "the order to %s leaves %s half changed", a.Kind, m.name)
		return
	}
	w.checkOneChanging()
	if a.Kind == Rollback {
		return
	}
	w.require(slices.Contains(w.op.Active, m.name), "%s is changed without a claim", m.name)
	if w.changed(m) {
		w.require(m.upgrade.Spec.Role == before.Spec.Role, "%s had the role %s in the change that failed, and has %s now", m.name, before.Spec.Role, m.upgrade.Spec.Role)
	}
	w.checkFetched(m, a, before)
	w.checkEmpty(who, m, a)
	if !who.fresh {
		return
	}
	w.require(!spec.Aborted && !spec.Paused, "%s is changed although the operation is held", m.name)
	w.require(w.older == "", "%s is changed although an older operation is unfinished", m.name)
	if m.controlPlane {
		w.checkControlPlaneWell(m)
		w.checkControlPlaneAlone()
	}
}

// checkOneChanging counts the control plane nodes whose agents may be changing the host.
func (w *world) checkOneChanging() {
	var changing []string
	for _, m := range w.machines {
		if m.controlPlane && w.changing(m) {
			changing = append(changing, m.name)
		}
	}
	w.require(len(changing) <= 1, "I1: %v of the control plane are changed at once", changing)
}

// changing says whether the machine's agent has an order to change the host, and has not come to an end of it.
func (w *world) changing(m *machine) bool {
	u := m.upgrade
	if u == nil || string(u.Spec.NodeUID) != m.uid || (u.Spec.Permit != refitv1alpha1.PermitApply && u.Spec.Permit != refitv1alpha1.PermitRollback) {
		return false
	}
	return u.Status.ObservedSequence != u.Spec.Sequence || (u.Status.Phase != refitv1alpha1.NodeSucceeded && u.Status.Phase != refitv1alpha1.NodeRolledBack)
}

func (w *world) checkFetched(m *machine, a *Action, before *cluster.Upgrade) {
	fetched := before != nil && before.Spec.Release == *a.Release && (before.Spec.Permit == refitv1alpha1.PermitApply ||
		(before.Status.Phase == refitv1alpha1.NodePrefetched && before.Status.ObservedSequence == before.Spec.Sequence))
	w.require(fetched, "%s is changed before it has fetched", m.name)
	if w.tally.changes++; w.tally.changes > 1 {
		return
	}
	spec := policy.Defaulted(w.op.Spec)
	want := w.parse(w.payload(a.Release.Name).Kubernetes)
	for i := range w.past[len(w.past)-1].snapshot.Nodes {
		n := &w.past[len(w.past)-1].snapshot.Nodes[i]
		there := len(w.machine(n.Name).agent.fetched) > 0 || n.CreatedAt.After(dawn)
		w.require(there || policy.LeftOut(&spec, n) != "" || !kubeletVersion(n).Before(want), "%s is changed before %s has fetched", m.name, n.Name)
	}
}

// checkEmpty: no pod that a drain should have moved is on a host when its kubelet crosses a minor version (I4).
func (w *world) checkEmpty(who *decider, m *machine, a *Action) {
	from := w.parse(m.kubelet.version)
	to := w.parse(w.payload(a.Release.Name).Kubernetes)
	if from.SameMinor(to) || len(who.view.snapshot.Nodes) == 1 || !m.handsOff.Before(who.view.at) {
		return
	}
	w.require(w.podsOn(m) == 0, "I4: %s is changed with %d pods on it", m.name, w.podsOn(m))
	w.require(m.cordoned, "I4: %s is changed and not cordoned", m.name)
}

// checkStep: what an agent takes away never costs etcd its quorum (I1).
func (w *world) checkStep(m *machine, step string) {
	if step != stepEtcd || w.external || len(w.members) <= 2 {
		return
	}
	w.require(w.quorum(), "I1: etcd has lost its quorum because %s was changed", m.name)
}

// checkSkew: every kubelet and API server fits every other (I3). On a control plane node the kubelet speaks to its own API server.
func (w *world) checkSkew(changed *machine) {
	for _, server := range w.machines {
		if !server.controlPlane {
			continue
		}
		at := w.parse(server.apiServer.version)
		for _, m := range w.machines {
			v := w.parse(m.kubelet.version)
			fits := skew.KubeletFits(v, at) || (m.controlPlane && m != server && v.MinorsBehind(at) == -1)
			w.require(fits, "I3: the kubelet on %s is at %s beside an API server at %s on %s (%s changed)", m.name, v, at, server.name, changed.name)
			if m.controlPlane {
				other := w.parse(m.apiServer.version)
				w.require(skew.APIServersFit(other, at), "I3: API servers at %s and %s (%s changed)", other, at, changed.name)
			}
		}
	}
}

// checkCordon and checkDrain: only claimed nodes are emptied, and pods leave nodes that are cordoned.
func (w *world) checkCordon(who *decider, m *machine) {
	if who.fresh {
		w.require(slices.Contains(w.op.Active, m.name), "%s is cordoned without a claim", m.name)
		w.checkSlot(who, m)
	}
	w.require(!m.byHand, "%s is cordoned although somebody did so already", m.name)
}

// checkSlot: just before the first disruption of a node, no more nodes than the limit are away with it (I2).
func (w *world) checkSlot(who *decider, m *machine) {
	if !m.controlPlane && m.cordonedBy == "" {
		w.checkWindow(who, []*machine{m})
	}
}

func (w *world) checkDrain(m *machine) {
	w.require(slices.Contains(w.op.Active, m.name), "I4: %s is drained without a claim", m.name)
}

func (w *world) checkUncordon(m *machine) {
	w.require(!m.cordoned || (!m.byHand && m.cordonedBy == w.op.UID), "the cordon of %s is lifted, and it was not ours", m.name)
	w.checkTried(m)
}

// checkDelete: a budget is set aside only where the policy says so, and only after the time that it says (I4).
func (w *world) checkDelete(m *machine) {
	spec := policy.Defaulted(w.op.Spec)
	rules := policy.DrainOf(&spec, &cluster.Node{ControlPlane: m.controlPlane, Labels: m.labels})
	w.require(rules.OnBlocked == refitv1alpha1.OnBlockedDelete, "I4: pods on %s are deleted, and the policy says %s", m.name, rules.OnBlocked)
	drained := time.Duration(0)
	if !m.since.drained.Before(m.since.claimed) {
		drained = w.now.Sub(m.since.drained)
	}
	w.require(drained >= rules.Timeout.Duration, "I4: pods on %s are deleted after %s, and the policy says %s", m.name, drained, rules.Timeout.Duration)
}

// checkEnd: what the end promises.
func (w *world) checkEnd(who *decider) {
	w.require(len(w.op.Active) == 0, "the operation ends with %v at work", w.op.Active)
	if !who.fresh {
		return
	}
	spec := policy.Defaulted(w.op.Spec)
	target := who.view.plan(w).To
	want := w.parse(target)
	for i := range who.view.snapshot.Nodes {
		n := &who.view.snapshot.Nodes[i]
		w.require(n.CordonedBy == "", "the operation ends with %s cordoned", n.Name)
		if w.op.end == Succeeded && policy.LeftOut(&spec, n) == "" {
			w.require(n.IsReady() && !kubeletVersion(n).Before(want), "the operation succeeds with %s at %s", n.Name, n.Kubelet)
		}
	}
}

func clock(t time.Time) string {
	since := t.Sub(dawn)
	return fmt.Sprintf("%02d:%02d:%02d", int(since.Hours()), int(since.Minutes())%60, int(since.Seconds())%60)
}
