package plan

import (
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// checkOrder checks that a host is changed only if it is claimed, prefetched and drained (I4), and
// never two of the control plane at once (I1).
func (w *world) checkOrder(who *controller, m *machine, a *Action, before *cluster.Upgrade) {
	spec := &w.op.Spec
	if string(m.upgrade.Spec.NodeUID) != m.uid {
		return // it is for the former node of this name, and no agent accepts it
	}
	other := before != nil && before.Spec.Operation.UID != m.upgrade.Spec.Operation.UID && changesHost(before.Status.Phase)
	w.require(!other || w.restored, "an order to %s replaces that of another operation, for which the host is being changed", m.name)
	w.require(spec.Approval == refitv1alpha1.ApprovalNone || spec.ApprovedPlan != "" || !who.fresh || (a.Kind != Prefetch && a.Kind != Apply), "an order without approval")
	if a.Kind != Apply && a.Kind != Rollback {
		known := before != nil && before.Status.Phase == refitv1alpha1.NodeFailed && node.Disrupted(before.Status.Steps)
		w.require(!w.changed(m) || m.agent.busy || !known, "the order to %s leaves %s partly changed", a.Kind, m.name)
		return
	}
	w.checkOneChanging()
	if a.Kind == Rollback {
		return
	}
	w.require(slices.Contains(w.op.Active, m.name), "%s is changed without a claim", m.name)
	if w.changed(m) && before.Spec.Permit == refitv1alpha1.PermitApply {
		w.require(m.upgrade.Spec.Role == before.Spec.Role, "%s had the role %s in the failed attempt, and has %s now", m.name, before.Spec.Role, m.upgrade.Spec.Role)
	}
	w.checkFetched(m, a, before)
	w.checkDrained(who, m, a)
	w.checkFits(who, m)
	if !who.fresh {
		return
	}
	w.require(!spec.Aborted && !spec.Paused, "%s is changed while the operation is held", m.name)
	w.require(w.older == "", "%s is changed while an older operation has not ended", m.name)
	w.require(m.protectedBy == w.op.UID, "%s is changed, and autoscalers may remove it", m.name)
	if m.controlPlane {
		w.checkBackupProven(m, 365*24*time.Hour) // its age counts when the node is claimed
		w.checkControlPlaneHealthy(m)
		w.checkControlPlaneAlone()
		if !w.changed(m) { // otherwise the API server may be down
			w.checkComponentsFit(who.view.snapshot, m, a.Release.Name)
		}
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
	w.require(len(changing) <= 1, "I1: control plane nodes %v are changed at once", changing)
}

// changing reports whether the machine's agent has an unfinished order to change the host.
func (w *world) changing(m *machine) bool {
	u := m.upgrade
	if m.agentChanges() {
		return true
	}
	if u != nil && u.Spec.Sequence < m.agent.memory.Sequence {
		return false // it refuses the order
	}
	if u == nil || string(u.Spec.NodeUID) != m.uid || (u.Spec.Permit != refitv1alpha1.PermitApply && u.Spec.Permit != refitv1alpha1.PermitRollback) {
		return false
	}
	return u.Status.ObservedSequence != u.Spec.Sequence || (u.Status.Phase != refitv1alpha1.NodeSucceeded && u.Status.Phase != refitv1alpha1.NodeRolledBack)
}

func (w *world) checkFetched(m *machine, a *Action, before *cluster.Upgrade) {
	fetched := before != nil && before.Spec.Release == *a.Release && (before.Spec.Permit == refitv1alpha1.PermitApply ||
		(before.Status.Phase == refitv1alpha1.NodePrefetched && before.Status.ObservedSequence == before.Spec.Sequence))
	w.require(fetched || w.changed(m), "%s is changed before it has prefetched", m.name)
	if w.tally.changes++; w.tally.changes > 1 {
		return
	}
	spec := policy.Defaulted(w.op.Spec)
	want := w.parse(w.payload(a.Release.Name).Kubernetes)
	for i := range w.past[len(w.past)-1].snapshot.Nodes {
		n := &w.past[len(w.past)-1].snapshot.Nodes[i]
		there := len(w.machine(n.Name).agent.fetched) > 0 || n.CreatedAt.After(simulationStart)
		w.require(there || policy.Exclusion(&spec, n) != "" || !kubeletVersion(n).Before(want), "%s is changed before %s has prefetched", m.name, n.Name)
	}
}

// checkDrained checks that no pod that a drain moves is on a host during a minor upgrade, or while
// another major version of containerd is installed (I4).
func (w *world) checkDrained(who *controller, m *machine, a *Action) {
	from := w.parse(m.kubelet.version)
	to := w.parse(w.payload(a.Release.Name).Kubernetes)
	runtime := m.containerd != "" && m.containerd[0] != w.payload(a.Release.Name).Containerd[0]
	if from.SameMinor(to) && !runtime || len(who.view.snapshot.Nodes) == 1 || !m.uncordonedAt.Before(who.view.at) {
		return
	}
	w.require(w.podsOn(m) == 0, "I4: %s is changed with %d pods on it", m.name, w.podsOn(m))
	w.require(m.cordoned, "I4: %s is changed and not cordoned", m.name)
}

// checkStep checks that etcd never loses its quorum because an agent stops a member (I1).
func (w *world) checkStep(m *machine, step string) {
	if step != stepEtcd || w.external || len(w.members) <= 2 {
		return
	}
	w.require(w.quorum(), "I1: etcd lost its quorum through %s", m.name)
}

// checkSkew checks the skew policy (I3). The kubelet of a control plane node talks to its own API
// server.
func (w *world) checkSkew(changed *machine) {
	for _, server := range w.machines {
		if !server.controlPlane {
			continue
		}
		at := w.parse(server.apiServer.version)
		for _, m := range w.machines {
			v := w.parse(m.kubelet.version)
			fits := skew.KubeletFits(v, at) || (m.controlPlane && m != server && v.MinorsBehind(at) == -1)
			w.require(fits, "I3: the kubelet on %[1]s runs %[2]s, and the API server on %[4]s runs %[3]s (%[5]s changed)", m.name, v, at, server.name, changed.name)
			if m.controlPlane {
				other := w.parse(m.apiServer.version)
				w.require(skew.APIServersFit(other, at), "I3: API servers at %s and %s (%s changed)", other, at, changed.name)
			}
		}
	}
}

// checkCordon and checkDrain check that only claimed nodes are cordoned and drained.
func (w *world) checkCordon(who *controller, m *machine) {
	if who.fresh {
		w.require(slices.Contains(w.op.Active, m.name), "%s is cordoned without a claim", m.name)
		w.checkSlot(who, m)
	}
	w.require(!m.cordonedByUser, "%s is cordoned again", m.name)
}

// checkSlot checks maxUnavailable just before the first disruption of a node (I2).
func (w *world) checkSlot(who *controller, m *machine) {
	if !m.controlPlane && m.cordonedBy == "" {
		w.checkWindow(who, []*machine{m})
	}
}

func (w *world) checkDrain(m *machine) {
	w.require(slices.Contains(w.op.Active, m.name), "I4: %s is drained without a claim", m.name)
	w.checkOpen("%s is drained", m.name)
}

func (w *world) checkUncordon(m *machine) {
	w.require(!m.cordoned || (!m.cordonedByUser && m.cordonedBy == w.op.UID), "a cordon of %s is removed that is not Refit's", m.name)
	w.checkTrial(m)
}

// checkDelete checks that pods are deleted against their budget only if the policy allows it, and
// only after the drain's timeout (I4).
func (w *world) checkDelete(m *machine) {
	spec := policy.Defaulted(w.op.Spec)
	rules := policy.DrainOf(&spec, &cluster.Node{ControlPlane: m.controlPlane, Labels: m.labels})
	w.require(rules.OnBlocked == refitv1alpha1.OnBlockedDelete, "I4: pods on %s are deleted, and onBlocked is %s", m.name, rules.OnBlocked)
	drained := time.Duration(0)
	if !m.since.drained.Before(m.since.claimed) {
		drained = w.now.Sub(m.since.drained)
	}
	w.require(drained >= rules.Timeout.Duration-w.slack(), "I4: pods on %s are deleted after %s, and the timeout is %s", m.name, drained, rules.Timeout.Duration)
}
