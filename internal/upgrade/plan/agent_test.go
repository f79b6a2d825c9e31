package plan

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// agent simulates refit-agent: it reports and executes orders, step by step.
type agent struct {
	absent          bool // it was never installed
	stopped         bool // installed, and does not run
	passive         bool // it reports only on request
	reportsAt       time.Time
	noticesAt       time.Time
	accepted        int64 // the highest sequence
	pendingSequence int64 // of the order that it accepts next
	acceptsAt       time.Time
	epoch           int64

	busy  bool
	next  time.Time         // when the current step ends
	steps []string          // the current one first
	fails bool              // the current step fails
	old   map[string]string // the versions before the current change

	fetched []string // ClusterReleases that are on the host
}

// The steps that the simulation distinguishes.
const (
	stepFetch   = "fetch"
	stepEtcd    = "etcd"
	stepServer  = "kube-apiserver"
	stepKubelet = "kubelet"
)

// etcdWaitTimeout is how long an agent waits for the other etcd members.
const etcdWaitTimeout = 5 * time.Minute

// runAgent is one tick of the agent.
func (m *machine) runAgent(w *world) {
	if !m.up || m.agent.absent || m.agent.stopped {
		return
	}
	m.respond(w)
	if m.agent.busy {
		m.proceed(w)
	} else {
		m.accept(w)
	}
}

func (m *machine) respond(w *world) {
	if m.report != nil && m.report.Answered >= m.reportRequest && string(m.report.NodeUID) == m.uid {
		return
	}
	if m.agent.reportsAt.IsZero() {
		m.agent.reportsAt = w.now.Add(w.duration(1, 3))
	}
	if !w.now.Before(m.agent.reportsAt) {
		m.agent.reportsAt = time.Time{}
		m.writeReport(w)
	}
}

// accept accepts a new order. It refuses a stale sequence, a stale epoch and another machine's
// order.
func (m *machine) accept(w *world) {
	if m.upgrade == nil {
		return
	}
	order := &m.upgrade.Spec
	if order.Sequence <= m.agent.accepted || order.Epoch < m.agent.epoch || string(order.NodeUID) != m.uid || order.MachineID != m.id {
		return
	}
	if m.agent.pendingSequence != order.Sequence {
		m.agent.pendingSequence, m.agent.acceptsAt = order.Sequence, w.now.Add(w.duration(1, 2))
	}
	if w.now.Before(m.agent.acceptsAt) {
		return
	}
	m.agent.accepted, m.agent.epoch = order.Sequence, order.Epoch
	switch order.Permit {
	case refitv1alpha1.PermitHold:
		m.phase(refitv1alpha1.NodeIdle)
	case refitv1alpha1.PermitPrefetch:
		m.agent.steps = []string{stepFetch}
		m.phase(refitv1alpha1.NodePrefetching)
		m.startTimer(w, w.duration(2, 3))
	case refitv1alpha1.PermitApply:
		m.agent.steps = m.stepsTo(w)
		if m.agent.old == nil {
			m.agent.old = map[string]string{stepEtcd: m.etcd.version, stepServer: m.apiServer.version, stepKubelet: m.kubelet.version}
		}
		m.write(func(u *cluster.Upgrade) { u.Status.StartTime = stamp(w.now) })
		m.phase(refitv1alpha1.NodeApplying)
		m.startStep(w)
	case refitv1alpha1.PermitRollback:
		m.rollBack(w)
	}
}

func (m *machine) startTimer(w *world, d time.Duration) {
	m.agent.busy, m.agent.next = true, w.now.Add(d)
}

// stepsTo lists the remaining steps, so that a retry continues where the first attempt failed.
func (m *machine) stepsTo(w *world) []string {
	target := w.payload(m.upgrade.Spec.Release.Name)
	var out []string
	add := func(step string, p *part, version string) {
		if version != "" && p.version != "" && (p.version != version || p.down) {
			out = append(out, step)
		}
	}
	add(stepEtcd, &m.etcd, target.Etcd)
	add(stepServer, &m.apiServer, target.Kubernetes)
	add(stepKubelet, &m.kubelet, target.Kubernetes)
	return out
}

func (w *world) payload(release string) refitv1alpha1.ReleasePayload {
	for i := range w.releases {
		if w.releases[i].Name == release {
			return w.releases[i].Payload
		}
	}
	return refitv1alpha1.ReleasePayload{}
}

func (m *machine) part(step string) *part {
	switch step {
	case stepEtcd:
		return &m.etcd
	case stepServer:
		return &m.apiServer
	}
	return &m.kubelet
}

// startStep stops the next component, or ends the upgrade.
func (m *machine) startStep(w *world) {
	if len(m.agent.steps) == 0 {
		m.agent.busy, m.agent.old = false, nil
		m.phase(refitv1alpha1.NodeSucceeded)
		m.write(func(u *cluster.Upgrade) { u.Status.CompletionTime, u.Status.Error = stamp(w.now), nil })
		w.note("%s runs %s", m.name, w.payload(m.upgrade.Spec.Release.Name).Kubernetes)
		return
	}
	step := m.agent.steps[0]
	m.write(func(u *cluster.Upgrade) { u.Status.Step = step })
	m.startTimer(w, w.duration(2, 3))
	if step == stepEtcd && !m.othersHealthy(w) {
		return // an agent stops no member unless every other one is healthy
	}
	p := m.part(step)
	p.down = true
	m.updateStaticPods()
	w.checkStep(m, step)
}

func (m *machine) othersHealthy(w *world) bool {
	for _, name := range w.members {
		if other := w.machine(name); name != m.name && (other == nil || !other.member()) {
			return false
		}
	}
	return true
}

// proceed ends the current step when its time has come.
func (m *machine) proceed(w *world) {
	if w.now.Before(m.agent.next) {
		return
	}
	switch m.upgrade.Status.Phase {
	case refitv1alpha1.NodePrefetching:
		m.agent.busy = false
		if m.agent.fails {
			m.fail(w, stepFetch, "the mirror answers 503")
			return
		}
		m.agent.fetched = append(m.agent.fetched, m.upgrade.Spec.Release.Name)
		m.phase(refitv1alpha1.NodePrefetched)
	case refitv1alpha1.NodeRollingBack:
		m.restored(w)
	case refitv1alpha1.NodeApplying:
		m.endStep(w)
	}
}

func (m *machine) endStep(w *world) {
	step := m.agent.steps[0]
	p := m.part(step)
	if !p.down { // it waits for the other etcd members
		if w.now.Sub(m.upgrade.Status.StartTime.Time) > etcdWaitTimeout {
			m.failStep(w, step, "another etcd member is unhealthy")
			return
		}
		m.startStep(w)
		return
	}
	if m.agent.fails {
		m.failStep(w, step, "it did not become healthy within 2 min")
		return
	}
	target := w.payload(m.upgrade.Spec.Release.Name)
	p.version, p.down = target.Kubernetes, false
	if step == stepEtcd {
		p.version = target.Etcd
	}
	m.updateStaticPods()
	if step != stepKubelet {
		m.writeReport(w)
	}
	w.checkSkew(m)
	m.agent.steps = m.agent.steps[1:]
	m.startStep(w)
}

// failStep fails a step: the agent rolls back, or stops if rollback is Manual.
func (m *machine) failStep(w *world, step, why string) {
	m.fail(w, step, why)
	if m.upgrade.Spec.Rollback == refitv1alpha1.RollbackManual {
		m.agent.busy = false
		return
	}
	m.rollBack(w)
}

func (m *machine) fail(w *world, step, why string) {
	m.agent.fails = false
	w.note("! %s fails at %s: %s", m.name, step, why)
	m.phase(refitv1alpha1.NodeFailed)
	m.write(func(u *cluster.Upgrade) {
		u.Status.CompletionTime = stamp(w.now)
		u.Status.Error = &refitv1alpha1.NodeError{
			Class: refitv1alpha1.FailureManualIntervention, Reason: "StepFailed", Step: step, Message: why, Remedy: "Fix " + step + " on the host, then run `refit retry`", At: *stamp(w.now),
		}
	})
}

func (m *machine) rollBack(w *world) {
	m.phase(refitv1alpha1.NodeRollingBack)
	m.write(func(u *cluster.Upgrade) { u.Status.StartTime = stamp(w.now) })
	m.kubelet.down = true
	m.startTimer(w, w.duration(2, 3))
}

// restored ends a rollback: the old versions run again. An upgraded etcd stays.
func (m *machine) restored(w *world) {
	if m.agent.fails {
		m.agent.busy = false
		m.fail(w, stepKubelet, "the old kubelet does not start")
		return
	}
	for _, step := range []string{stepServer, stepKubelet} {
		if old := m.agent.old[step]; old != "" {
			m.part(step).version = old
		}
	}
	m.etcd.down, m.apiServer.down, m.kubelet.down = false, false, false
	m.agent.busy, m.agent.steps, m.agent.old = false, nil, nil
	m.updateStaticPods()
	m.writeReport(w)
	m.phase(refitv1alpha1.NodeRolledBack)
	m.write(func(u *cluster.Upgrade) { u.Status.CompletionTime = stamp(w.now) })
	w.note("%s is rolled back to %s", m.name, m.kubelet.version)
}

// phase writes the agent's phase.
func (m *machine) phase(p refitv1alpha1.NodePhase) {
	accepted := m.agent.accepted
	m.write(func(u *cluster.Upgrade) { u.Status.Phase, u.Status.ObservedSequence, u.Status.Step = p, accepted, "" })
}

// write replaces the stored NodeUpgrade. Observations that share the old one do not change.
func (m *machine) write(change func(*cluster.Upgrade)) {
	if m.upgrade == nil {
		return
	}
	next := *m.upgrade
	change(&next)
	m.upgrade = &next
	m.upgradeVersion++
}

func stamp(t time.Time) *metav1.Time {
	out := metav1.NewTime(t)
	return &out
}

func (m *machine) String() string { return fmt.Sprintf("%s at %s", m.name, m.kubelet.version) }
