package plan

import (
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// respond is a diligent person who reads what the operation waits for and mends exactly that, and nothing that nobody told.
func (w *world) respond(d *Decision) {
	for i := range d.Waiting {
		if wait := &d.Waiting[i]; wait.ManualIntervention {
			w.mend(d, wait)
			return
		}
	}
}

func (w *world) mend(d *Decision, wait *Wait) {
	m := w.machine(wait.Node)
	switch wait.Reason {
	case refitv1alpha1.ReasonApprovalRequired, refitv1alpha1.ReasonPlanChanged:
		w.approve()
	case refitv1alpha1.ReasonPaused:
		w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Paused = false }, "a person resumes")
	case refitv1alpha1.ReasonNodeFailed:
		if w.dice != nil && w.dice.IntN(5) == 0 {
			w.abort()
			return
		}
		w.mendHost(m)
		for i := range d.Failures {
			if f := &d.Failures[i]; f.Node == wait.Node && f.Step == "drain" {
				w.relax()
			}
		}
		w.retry()
	case refitv1alpha1.ReasonNodesSkipped:
		if w.dice != nil && w.dice.IntN(4) == 0 {
			w.abort()
			return
		}
		w.relax()
		w.retry()
	case refitv1alpha1.ReasonDrainBlocked:
		w.relax()
	case refitv1alpha1.ReasonNodeUnavailable:
		w.bringBack(m)
	case refitv1alpha1.ReasonControlPlaneUnhealthy:
		w.mendControlPlane(m)
	case refitv1alpha1.ReasonReportMissing, refitv1alpha1.ReasonTrialFailed:
		w.mendHost(m)
	case refitv1alpha1.ReasonReleaseMissing:
		w.release(w.versionOf(wait))
	case refitv1alpha1.ReasonSkew:
		w.mendSkew(m)
	default:
		w.broke("I8: a person is needed for %s, and nobody knows how to help: %s", wait.Reason, wait.Message)
	}
}

// edit changes the operation's spec, as a person does.
func (w *world) edit(change func(*refitv1alpha1.ClusterUpgradeSpec), format string, args ...any) {
	if w.op.Ended {
		return
	}
	w.tell("* "+format, args...)
	spec := *w.op.Spec.DeepCopy()
	change(&spec)
	w.op.Spec = spec
	w.op.Generation++
	w.op.version++
	w.inputs++
}

func (w *world) approve() {
	now := w.see()
	p := now.plan(w)
	if p == nil {
		return
	}
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.ApprovedPlan = p.Hash }, "a person approves the plan")
}

func (w *world) retry() {
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Retry++ }, "a person says retry")
}

func (w *world) abort() {
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Aborted = true }, "a person aborts")
}

// relax makes every budget let one pod go.
func (w *world) relax() {
	w.tell("* a person lets every budget allow all pods to go")
	for _, load := range w.workloads {
		load.most = int32(len(load.pods))
	}
}

// rescue is a person who sees that the API is away, which nobody can tell through it.
func (w *world) rescue() {
	for _, m := range w.machines {
		if !m.controlPlane {
			continue
		}
		w.mendHost(m)
		if !m.agent.busy {
			m.etcd.away, m.apiServer.away = false, false
			m.draw()
		}
	}
	w.members = slices.DeleteFunc(slices.Clone(w.members), func(name string) bool { return w.machine(name) == nil })
}

func (w *world) mendHost(m *machine) {
	if m == nil {
		return
	}
	w.tell("* a person mends the host of %s", m.name)
	m.agent.fails, m.agent.asleep, m.agent.absent, m.agent.dead = false, false, false, false
	w.setUp(m, true)
	m.kubelet.ill, m.apiServer.ill, m.trial.cut = false, false, time.Time{}
	w.setMember(m, true)
}

// bringBack lifts hand-made cordons and starts hosts of the pool that the wait is about.
func (w *world) bringBack(m *machine) {
	for _, other := range w.machines {
		if m != nil && other != m && (other.controlPlane != m.controlPlane || other.labels["pool"] != m.labels["pool"]) {
			continue
		}
		if !other.up || !other.ready {
			w.mendHost(other)
		}
		if other.cordoned && other.byHand {
			w.uncordonByHand(other)
		}
	}
}

// mendControlPlane brings members and API servers back, and removes members of machines that are gone.
func (w *world) mendControlPlane(m *machine) {
	gone := slices.DeleteFunc(slices.Clone(w.members), func(name string) bool { return w.machine(name) != nil })
	if len(gone) > 0 {
		w.tell("* a person removes %v from etcd", gone)
		w.members = slices.DeleteFunc(slices.Clone(w.members), func(name string) bool { return slices.Contains(gone, name) })
		return
	}
	ill := func(m *machine) bool { return !m.up || m.kubelet.ill || m.apiServer.ill || m.etcd.ill }
	for _, other := range w.machines {
		if other.controlPlane && ill(other) {
			w.mendHost(other)
			return
		}
	}
	if m != nil && len(w.members) == 2 && !policy.WaivedAnywhere(&w.op.Spec, policy.CheckTwoMembers) {
		w.abort() // a third member would be another plan, and is another person's work
	}
}

// mendSkew brings a node to a version that fits, or away.
func (w *world) mendSkew(m *machine) {
	if m == nil {
		return
	}
	if !m.controlPlane {
		w.tell("* a person removes %s, which is too old", m.name)
		w.leave(m)
		return
	}
	newest := skew.Version{}
	for _, other := range w.machines {
		v := w.parse(other.apiServer.version)
		newest = skew.Max(newest, v)
	}
	w.tell("* a person brings %s to %s by hand", m.name, newest)
	m.apiServer.version, m.kubelet.version = newest.String(), newest.String()
	m.draw()
}

func (w *world) setUp(m *machine, up bool) {
	m.up = up
	if !up {
		m.etcd.illAt = w.now
	}
}

func (w *world) setMember(m *machine, well bool) {
	if m.etcd.version != "" {
		m.etcd.ill, m.etcd.illAt = !well, w.now
		m.draw()
	}
}

func (w *world) cordonByHand(m *machine) {
	if m.cordoned || m.cordonedBy != "" {
		return
	}
	w.tell("* somebody cordons %s", m.name)
	m.cordoned, m.byHand = true, true
	m.version++
}

// uncordonByHand is kubectl uncordon, which knows nothing of our mark and leaves it.
func (w *world) uncordonByHand(m *machine) {
	w.tell("* somebody uncordons %s", m.name)
	m.cordoned, m.byHand, m.handsOff = false, false, w.now
	m.version++
}

// release makes a ClusterRelease, as `refit release create` does.
func (w *world) release(version string) {
	if version == "" {
		return
	}
	w.tell("* a person makes a ClusterRelease of %s", version)
	w.releases = append(slices.Clone(w.releases), releaseOf(version))
	w.inputs++
	w.meaning++
}

// versionOf is the version that a wait for a ClusterRelease asks for, with some patch.
func (w *world) versionOf(*Wait) string {
	for _, hop := range w.see().plan(w).Hops {
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
