package plan

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// agent is what runs on a host: it answers questions and carries out orders, step by step.
type agent struct {
	absent   bool // it was never installed
	dead     bool // it was, and does not run
	asleep   bool // it tells facts only when it is asked
	answer   time.Time
	noticed  time.Time
	accepted int64 // the highest sequence
	heard    int64 // the sequence of the order that it is about to look at
	looks    time.Time
	epoch    int64

	busy  bool
	next  time.Time         // when what it is doing ends
	steps []string          // still to do, the first of them at work
	fails bool              // the next step
	old   map[string]string // the versions before the change that is under way

	fetched []string // Releases that are on the host
}

// The steps of a host, as far as the world can tell them apart.
const (
	stepFetch   = "fetch"
	stepEtcd    = "etcd"
	stepServer  = "kube-apiserver"
	stepKubelet = "kubelet"
)

// agentPatience is how long an agent waits for the other etcd members before it gives up.
const agentPatience = 5 * time.Minute

// work is one turn of the agent.
func (m *machine) work(w *world) {
	if !m.up || m.agent.absent || m.agent.dead {
		return
	}
	m.answer(w)
	if m.agent.busy {
		m.proceed(w)
	} else {
		m.accept(w)
	}
}

func (m *machine) answer(w *world) {
	if m.report != nil && m.report.Answered >= m.asked && string(m.report.NodeUID) == m.uid {
		return
	}
	if m.agent.answer.IsZero() {
		m.agent.answer = w.now.Add(w.takes(1, 3))
	}
	if !w.now.Before(m.agent.answer) {
		m.agent.answer = time.Time{}
		m.tell(w)
	}
}

// accept takes up a new order. It refuses one from the past, from a deposed leader, or for another machine.
func (m *machine) accept(w *world) {
	if m.upgrade == nil {
		return
	}
	order := &m.upgrade.Spec
	if order.Sequence <= m.agent.accepted || order.Epoch < m.agent.epoch || string(order.NodeUID) != m.uid || order.MachineID != m.id {
		return
	}
	if m.agent.heard != order.Sequence {
		m.agent.heard, m.agent.looks = order.Sequence, w.now.Add(w.takes(1, 2))
	}
	if w.now.Before(m.agent.looks) {
		return
	}
	m.agent.accepted, m.agent.epoch = order.Sequence, order.Epoch
	switch order.Permit {
	case refitv1alpha1.PermitHold:
		m.phase(refitv1alpha1.NodeIdle)
	case refitv1alpha1.PermitPrefetch:
		m.agent.steps = []string{stepFetch}
		m.phase(refitv1alpha1.NodePrefetching)
		m.begin(w, w.takes(2, 3))
	case refitv1alpha1.PermitApply:
		m.agent.steps = m.stepsTo(w)
		if m.agent.old == nil {
			m.agent.old = map[string]string{stepEtcd: m.etcd.version, stepServer: m.apiServer.version, stepKubelet: m.kubelet.version}
		}
		m.write(func(u *cluster.Upgrade) { u.Status.StartTime = stamp(w.now) })
		m.phase(refitv1alpha1.NodeApplying)
		m.beginStep(w)
	case refitv1alpha1.PermitRollback:
		m.rollBack(w)
	}
}

func (m *machine) begin(w *world, d time.Duration) { m.agent.busy, m.agent.next = true, w.now.Add(d) }

// stepsTo lists what is still to do, so that a second attempt goes on where the first one failed.
func (m *machine) stepsTo(w *world) []string {
	target := w.payload(m.upgrade.Spec.Release.Name)
	var out []string
	add := func(step string, p *part, version string) {
		if version != "" && p.version != "" && (p.version != version || p.away) {
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

// beginStep takes the next component away, or ends the work.
func (m *machine) beginStep(w *world) {
	if len(m.agent.steps) == 0 {
		m.agent.busy, m.agent.old = false, nil
		m.phase(refitv1alpha1.NodeSucceeded)
		m.write(func(u *cluster.Upgrade) { u.Status.CompletionTime, u.Status.Error = stamp(w.now), nil })
		w.tell("%s is at %s", m.name, w.payload(m.upgrade.Spec.Release.Name).Kubernetes)
		return
	}
	step := m.agent.steps[0]
	m.write(func(u *cluster.Upgrade) { u.Status.Step = step })
	m.begin(w, w.takes(2, 3))
	if step == stepEtcd && !m.othersWell(w) {
		return // the agents' own promise: no member is stopped before every other one is seen well
	}
	p := m.part(step)
	p.away = true
	m.draw()
	w.checkStep(m, step)
}

func (m *machine) othersWell(w *world) bool {
	for _, name := range w.members {
		if other := w.machine(name); name != m.name && (other == nil || !other.member()) {
			return false
		}
	}
	return true
}

// proceed ends what the agent is doing, when its time has come.
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
	if !p.away { // it waits for the other etcd members
		if w.now.Sub(m.upgrade.Status.StartTime.Time) > agentPatience {
			m.failStep(w, step, "another etcd member is not well")
			return
		}
		m.beginStep(w)
		return
	}
	if m.agent.fails {
		m.failStep(w, step, "it did not become healthy within 2 min")
		return
	}
	target := w.payload(m.upgrade.Spec.Release.Name)
	p.version, p.away = target.Kubernetes, false
	if step == stepEtcd {
		p.version = target.Etcd
	}
	m.draw()
	if step != stepKubelet {
		m.tell(w)
	}
	w.checkSkew(m)
	m.agent.steps = m.agent.steps[1:]
	m.beginStep(w)
}

// failStep is a step that did not succeed: the agent puts the host back, or stops and asks.
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
	w.tell("! %s fails at %s: %s", m.name, step, why)
	m.phase(refitv1alpha1.NodeFailed)
	m.write(func(u *cluster.Upgrade) {
		u.Status.CompletionTime = stamp(w.now)
		u.Status.Error = &refitv1alpha1.NodeError{
			Class: refitv1alpha1.FailureManualIntervention, Reason: "StepFailed", Step: step, Message: why, Remedy: "mend " + step + " on the host, then refit retry", At: *stamp(w.now),
		}
	})
}

func (m *machine) rollBack(w *world) {
	m.phase(refitv1alpha1.NodeRollingBack)
	m.write(func(u *cluster.Upgrade) { u.Status.StartTime = stamp(w.now) })
	m.kubelet.away = true
	m.begin(w, w.takes(2, 3))
}

// restored ends a rollback: the old versions run again. An etcd that was proven stays.
func (m *machine) restored(w *world) {
	if m.agent.fails {
		m.agent.busy = false
		m.fail(w, stepKubelet, "the old kubelet does not start either")
		return
	}
	for _, step := range []string{stepServer, stepKubelet} {
		if old := m.agent.old[step]; old != "" {
			m.part(step).version = old
		}
	}
	m.etcd.away, m.apiServer.away, m.kubelet.away = false, false, false
	m.agent.busy, m.agent.steps, m.agent.old = false, nil, nil
	m.draw()
	m.tell(w)
	m.phase(refitv1alpha1.NodeRolledBack)
	m.write(func(u *cluster.Upgrade) { u.Status.CompletionTime = stamp(w.now) })
	w.tell("%s is back at %s", m.name, m.kubelet.version)
}

// phase writes how far the agent is.
func (m *machine) phase(p refitv1alpha1.NodePhase) {
	accepted := m.agent.accepted
	m.write(func(u *cluster.Upgrade) { u.Status.Phase, u.Status.ObservedSequence, u.Status.Step = p, accepted, "" })
}

// write replaces the stored NodeUpgrade: what others have seen of it stays as they saw it.
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
