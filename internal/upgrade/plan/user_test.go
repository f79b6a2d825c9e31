package plan

import (
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// intervene is a user who does exactly what the operation requires, and nothing else.
func (w *world) intervene(d *Decision) {
	for i := range d.Waiting {
		if wait := &d.Waiting[i]; wait.ManualIntervention {
			w.fix(d, wait)
			return
		}
	}
}

func (w *world) fix(d *Decision, wait *Wait) {
	m := w.machine(wait.Node)
	if wait.Component != "" && wait.Reason != refitv1alpha1.ReasonActionFailed {
		w.fixComponent(wait)
		return
	}
	switch wait.Reason {
	case refitv1alpha1.ReasonApprovalRequired, refitv1alpha1.ReasonPlanChanged:
		w.approve()
	case refitv1alpha1.ReasonPaused:
		w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Paused = false }, "the user resumes")
	case refitv1alpha1.ReasonNodeFailed:
		if w.dice != nil && w.dice.IntN(5) == 0 {
			w.abort()
			return
		}
		w.fixHost(m)
		for i := range d.Failures {
			if f := &d.Failures[i]; f.Node == wait.Node && f.Step == "drain" {
				w.relaxBudgets()
			}
		}
		w.retry()
	case refitv1alpha1.ReasonOrderRefused:
		w.retry()
	case refitv1alpha1.ReasonNodesSkipped:
		if w.dice != nil && w.dice.IntN(4) == 0 {
			w.abort()
			return
		}
		w.relaxBudgets()
		w.retry()
	case refitv1alpha1.ReasonDrainBlocked:
		w.waiveDataLoss()
		w.relaxBudgets()
	case refitv1alpha1.ReasonNodeUnavailable:
		if !w.givesUp(m, wait) {
			w.restoreNodes(m)
		}
	case refitv1alpha1.ReasonControlPlaneUnhealthy:
		w.fixControlPlane(m)
	case refitv1alpha1.ReasonReportMissing, refitv1alpha1.ReasonTrialFailed:
		if !w.givesUp(m, wait) {
			w.fixHost(m)
		}
	case refitv1alpha1.ReasonActionFailed:
		w.note("* the user fixes the webhook")
		w.deniedSince, w.ordersDeniedSince = time.Time{}, time.Time{}
	case refitv1alpha1.ReasonStatusRefused:
		w.note("* the user fixes the admission policy")
		w.claimsRefused = false
	case refitv1alpha1.ReasonWaiting:
		w.note("* the user ends the other package manager on %s", m.name)
		m.agent.lockedUntil = w.now
	case refitv1alpha1.ReasonBlocked:
		w.restoreRelease()
	case refitv1alpha1.ReasonReleaseMissing:
		w.release(w.versionOf(wait))
	case refitv1alpha1.ReasonClockSkewed:
		w.note("* the user fixes the clock of the controller")
		w.leading.skew = 0
	case refitv1alpha1.ReasonWindowTooShort, refitv1alpha1.ReasonWindowUnusable:
		w.fixWindow()
	case refitv1alpha1.ReasonSkew:
		w.fixSkew(m)
	case refitv1alpha1.ReasonBackupFailed, refitv1alpha1.ReasonRehearsalFailed, refitv1alpha1.ReasonBackupPending:
		w.fixBackup(wait)
	default:
		w.violation("I8: no user action for %s: %s", wait.Reason, wait.Message)
	}
}

// edit changes the operation's spec.
func (w *world) edit(change func(*refitv1alpha1.ClusterUpgradeSpec), format string, args ...any) {
	if w.op.Ended {
		return
	}
	w.note("* "+format, args...)
	spec := *w.op.Spec.DeepCopy()
	change(&spec)
	w.op.Spec = spec
	w.op.Generation++
	w.op.version++
	w.inputs++
}

func (w *world) approve() {
	now := w.observe()
	p := now.plan(w)
	if p == nil {
		return
	}
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.ApprovedPlan = p.Hash }, "the user approves the plan")
}

func (w *world) retry() {
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Retry++ }, "the user retries")
	if w.componentAgent.valuesChanged {
		w.meaning++ // a component that was rolled back is planned again, with the new values
	}
}

func (w *world) abort() {
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Aborted = true }, "the user aborts")
}

// givesUp abandons a node if the remedy names that, sometimes. Its host may come back.
func (w *world) givesUp(m *machine, wait *Wait) bool {
	if w.dice == nil || m == nil || m.up && !m.agent.stopped || !strings.Contains(wait.Remedy, "refit abandon "+m.name) || w.dice.IntN(3) > 0 {
		return false
	}
	w.abandon(m.name)
	return true
}

// abandon gives up a node whose host does not come back.
func (w *world) abandon(name string) {
	if m := w.machine(name); m != nil && m.controlPlane {
		w.meaning++ // the plan lists the control plane nodes
	}
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) {
		spec.AbandonedNodes = append(slices.Clone(spec.AbandonedNodes), name)
	}, "the user abandons %s", name)
}

func (w *world) abandoned(m *machine) bool { return slices.Contains(w.op.Spec.AbandonedNodes, m.name) }

// relaxBudgets makes every budget allow all evictions.
func (w *world) relaxBudgets() {
	w.note("* the user lets every budget allow all evictions")
	for _, load := range w.workloads {
		load.stuck = false
		load.keepsData = load.keepsData && w.dataLost(load) == nil // otherwise the user moves the data
		load.maxUnavailable = int32(len(load.pods))
	}
}

// waiveDataLoss waives the loss of data in emptyDir volumes, sometimes. That changes the plan.
func (w *world) waiveDataLoss() {
	if w.dice == nil || policy.WaivedAnywhere(&w.op.Spec, policy.CheckLocalData) || w.dice.IntN(2) == 0 {
		return
	}
	if at := slices.IndexFunc(w.workloads, func(l *workload) bool { return l.keepsData }); at >= 0 {
		owner := "StatefulSet " + namespace + "/" + w.workloads[at].name
		w.meaning++
		w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) {
			spec.Waivers = append(slices.Clone(spec.Waivers), refitv1alpha1.Waiver{Check: policy.CheckLocalData, Object: owner, Reason: "it is scratch space"})
		}, "the user waives the loss of data of %s", owner)
	}
}

// restoreAPI is a user who fixes a control plane that cannot report anything.
func (w *world) restoreAPI() {
	for _, m := range w.machines {
		if !m.controlPlane {
			continue
		}
		w.fixHost(m)
		if !m.agent.busy {
			m.etcd.down, m.apiServer.down = false, false
			m.updateStaticPods()
		}
	}
	w.members = slices.DeleteFunc(slices.Clone(w.members), func(name string) bool { return w.machine(name) == nil })
}

func (w *world) fixHost(m *machine) {
	if m == nil {
		return
	}
	w.note("* the user fixes the host of %s", m.name)
	m.agent.fails, m.agent.passive, m.agent.absent, m.agent.stopped = false, false, false, false
	w.setUp(m, true)
	m.kubelet.unhealthy, m.apiServer.unhealthy, m.cutOffSince, m.trial.disconnectedSince = false, false, time.Time{}, time.Time{}
	w.setMember(m, true)
}

// restoreNodes uncordons and starts the nodes of the pool that the operation waits for.
func (w *world) restoreNodes(m *machine) {
	for _, other := range w.machines {
		if m != nil && other != m && (other.controlPlane != m.controlPlane || other.labels["pool"] != m.labels["pool"]) {
			continue
		}
		if (!other.up || !other.ready) && !w.abandoned(other) {
			w.fixHost(other)
		}
		if other.cordoned && other.cordonedByUser {
			w.uncordonByHand(other)
		}
	}
}

// fixControlPlane fixes members and API servers, and removes members of removed machines.
func (w *world) fixControlPlane(m *machine) {
	gone := slices.DeleteFunc(slices.Clone(w.members), func(name string) bool { return w.machine(name) != nil })
	if len(gone) > 0 {
		w.note("* the user removes %v from etcd", gone)
		w.members = slices.DeleteFunc(slices.Clone(w.members), func(name string) bool { return slices.Contains(gone, name) })
		return
	}
	faulty := func(m *machine) bool {
		return !m.up || m.agent.stopped || m.kubelet.unhealthy || m.apiServer.unhealthy || m.etcd.unhealthy || !m.cutOffSince.IsZero()
	}
	if m != nil && w.abandoned(m) && !m.agent.busy && !m.agent.unpermitted {
		w.removeServer(m)
		return
	}
	for _, other := range w.machines {
		if other.controlPlane && faulty(other) {
			w.fixHost(other)
			return
		}
	}
	if w.vipAlso != "" || w.vipLost {
		w.note("* the user fixes keepalived")
		w.vipAlso, w.vipLost = "", false
		return
	}
	if m != nil && len(w.members) == 2 && !policy.WaivedAnywhere(&w.op.Spec, policy.CheckTwoMembers) {
		w.abort() // a third member would change the plan
	}
}

// removeServer removes an abandoned control plane node from the cluster and from etcd.
func (w *world) removeServer(m *machine) {
	if w.servers() == 1 {
		w.fixHost(m)
		return
	}
	w.note("* the user removes %s", m.name)
	w.leave(m)
	w.members = slices.DeleteFunc(slices.Clone(w.members), func(name string) bool { return name == m.name })
}

// fixSkew upgrades a control plane node by hand, or removes a worker.
func (w *world) fixSkew(m *machine) {
	if m == nil {
		return
	}
	if !m.controlPlane {
		w.note("* the user removes %s, which is too old", m.name)
		w.leave(m)
		return
	}
	newest := skew.Version{}
	for _, other := range w.machines {
		v := w.parse(other.apiServer.version)
		newest = skew.Max(newest, v)
	}
	w.note("* the user upgrades %s to %s by hand", m.name, newest)
	m.apiServer.version, m.kubelet.version = newest.String(), newest.String()
	m.updateStaticPods()
}

func (w *world) setUp(m *machine, up bool) {
	m.up = up
	if !up {
		m.etcd.unhealthySince = w.now
	}
}

func (w *world) setMember(m *machine, healthy bool) {
	if m.etcd.version != "" {
		m.etcd.unhealthy, m.etcd.unhealthySince = !healthy, w.now
		m.updateStaticPods()
	}
}

func (w *world) cordonByHand(m *machine) {
	if m.cordoned || m.cordonedBy != "" {
		return
	}
	w.note("* the user cordons %s", m.name)
	m.cordoned, m.cordonedByUser = true, true
	m.version++
}

// uncordonByHand is kubectl uncordon, which leaves Refit's annotation.
func (w *world) uncordonByHand(m *machine) {
	w.note("* the user uncordons %s", m.name)
	m.cordoned, m.cordonedByUser, m.uncordonedAt = false, false, w.now
	m.version++
}

// release creates a ClusterRelease.
func (w *world) release(version string) {
	if version == "" {
		return
	}
	w.note("* the user creates a ClusterRelease of %s", version)
	w.releases = append(slices.Clone(w.releases), w.newRelease(version))
	w.inputs++
	w.meaning++
}

// deleteRelease deletes the ClusterRelease that the operation's target names.
func (w *world) deleteRelease() {
	w.note("! the ClusterRelease %s is deleted", w.op.Spec.Target.Release)
	w.releases = slices.DeleteFunc(slices.Clone(w.releases), func(r cluster.Release) bool { return r.Name == w.op.Spec.Target.Release })
	w.inputs++
}

// restoreRelease applies the deleted ClusterRelease again.
func (w *world) restoreRelease() {
	w.note("* the user applies the ClusterRelease %s again", w.op.Spec.Target.Release)
	w.releases = append(slices.Clone(w.releases), w.newRelease(strings.TrimPrefix(w.op.Spec.Target.Release, "kubernetes-")))
	w.inputs++
}

// versionOf is the version of the missing ClusterRelease, with some patch version.
func (w *world) versionOf(*Wait) string {
	for _, hop := range w.observe().plan(w).Hops {
		if hop.Release != nil {
			continue
		}
		if _, err := skew.Parse(hop.Kubernetes); err != nil {
			return hop.Kubernetes + ".1"
		}
		return hop.Kubernetes
	}
	return ""
}
