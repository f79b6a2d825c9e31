package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// agent simulates refit-agent: it reports and executes orders, step by step.
type agent struct {
	absent          bool   // it was never installed
	stopped         bool   // installed, and does not run
	passive         bool   // it reports only on request
	version         string // of an agent that is older than the controller
	reportsAt       time.Time
	noticesAt       time.Time
	memory          node.HostState // on its disk, which a restore of etcd does not change
	pendingSequence int64          // of the order that it accepts next
	acceptsAt       time.Time
	order           refitv1alpha1.NodeUpgradeSpec   // the last one that it accepted
	status          refitv1alpha1.NodeUpgradeStatus // as it last wrote it
	done            string                          // the ClusterRelease that it last installed

	busy  bool
	next  time.Time         // when the current step ends
	steps []string          // the current one first
	fails bool              // the current step fails
	old   map[string]string // the versions before the current change

	unpermitted bool      // it waits for permission to change the host, or for the lock of dpkg
	lockedUntil time.Time // when another package manager on its host ends

	fetched []string // ClusterReleases that are on the host

	drillEnds  time.Time // when the backup that it takes was stored and restored
	backupEnds time.Time // when the backup that it takes ends
}

// The steps that the simulation distinguishes.
const (
	stepFetch   = "fetch"
	stepEtcd    = "etcd"
	stepServer  = "kube-apiserver"
	stepKubelet = "kubelet"
)

// stepNames are the names of the steps that an agent reports.
var stepNames = map[string]string{stepEtcd: node.StepEtcd, stepServer: node.StepAPIServer, stepKubelet: node.StepKubelet}

// etcdWaitTimeout is how long an agent waits for the other etcd members.
const etcdWaitTimeout = 5 * time.Minute

// runAgent is one tick of the agent.
func (m *machine) runAgent(w *world) {
	if !m.up || m.agent.absent || m.agent.stopped {
		return
	}
	m.respond(w)
	m.accept(w)
	if m.agent.busy {
		m.proceed(w)
	} else if m.agent.unpermitted {
		m.beginChange(w)
	}
	m.proceedBackup(w)
	m.correctStatus()
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

// accept accepts a new order, or refuses it. An agent that is changing the host accepts orders too.
func (m *machine) accept(w *world) {
	if m.upgrade == nil || m.agent.busy && !m.agentChanges() {
		return
	}
	order := &m.upgrade.Spec
	accepted, refusal := node.Accept(m.name, order, m.agent.memory, node.Identity{NodeName: m.name, NodeUID: types.UID(m.uid), MachineID: m.id}, w.now)
	if refusal != nil {
		m.refuse(w, refusal)
	}
	if !accepted {
		return
	}
	if m.agent.pendingSequence != order.Sequence {
		m.agent.pendingSequence, m.agent.acceptsAt = order.Sequence, w.now.Add(w.duration(1, 2))
	}
	if w.now.Before(m.agent.acceptsAt) {
		return
	}
	m.agent.unpermitted = false
	m.agent.memory.Sequence, m.agent.memory.Epoch, m.agent.memory.NodeUID = order.Sequence, order.Epoch, order.NodeUID
	m.agent.status.Conditions = nil
	m.startBackup(w, order)
	if m.continues(order) {
		return
	}
	m.agent.order = *order
	forward := order.Permit == refitv1alpha1.PermitApply || order.Permit == refitv1alpha1.PermitPrefetch
	if to := w.parse(w.payload(order.Release.Name).Kubernetes); forward && m.agent.old == nil && to.Before(w.parse(m.kubelet.version)) {
		m.fail(w, "", "Refit does not downgrade")
		return
	}
	switch order.Permit {
	case refitv1alpha1.PermitHold:
		m.phase(refitv1alpha1.NodeIdle)
	case refitv1alpha1.PermitBackup:
		m.keepPrefetched(order)
	case refitv1alpha1.PermitPrefetch:
		m.agent.steps = []string{stepFetch}
		m.phase(refitv1alpha1.NodePrefetching)
		m.startTimer(w, w.duration(2, 3))
	case refitv1alpha1.PermitApply:
		m.agent.steps = m.stepsTo(w)
		m.write(func(s *refitv1alpha1.NodeUpgradeStatus) { s.StartTime = stamp(m.clock(w)) })
		m.phase(refitv1alpha1.NodeApplying)
		m.beginChange(w)
	case refitv1alpha1.PermitRollback:
		m.rollBack(w)
	}
}

// continues handles an order that changes nothing on the host: it is being changed already, or is
// done.
func (m *machine) continues(order *refitv1alpha1.NodeUpgradeSpec) bool {
	rollback := order.Permit == refitv1alpha1.PermitRollback
	switch {
	case m.agent.busy && rollback && m.agent.status.Phase == refitv1alpha1.NodeApplying:
		return false
	case m.agent.busy:
		m.agent.order.Permit, m.agent.order.Attempt = order.Permit, order.Attempt
		m.phase(m.agent.status.Phase)
		return true
	case m.agent.old != nil && order.Permit != refitv1alpha1.PermitApply && !rollback:
		m.agent.order = *order
		m.phase(refitv1alpha1.NodeFailed) // it is partly changed
		return true
	case m.agent.done == order.Release.Name && m.agent.status.Phase == refitv1alpha1.NodeSucceeded && !rollback:
		m.agent.order = *order
		m.phase(refitv1alpha1.NodeSucceeded)
		return true
	}
	return false
}

// agentChanges reports whether the agent is changing the host.
func (m *machine) agentChanges() bool {
	return m.agent.status.Phase == refitv1alpha1.NodeApplying || m.agent.status.Phase == refitv1alpha1.NodeRollingBack
}

// refuse writes that the agent refuses the order, and refreshes the report, which has the last
// accepted one.
func (m *machine) refuse(w *world, why *node.Refusal) {
	now := metav1.Condition{
		Type: refitv1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, Reason: why.Reason, Message: why.Message, ObservedGeneration: m.upgrade.Generation,
	}
	if known := meta.FindStatusCondition(m.upgrade.Status.Conditions, now.Type); known != nil && *known == now {
		return
	}
	m.write(func(s *refitv1alpha1.NodeUpgradeStatus) { s.Conditions = []metav1.Condition{now} })
	m.writeReport(w)
}

func (m *machine) startTimer(w *world, d time.Duration) {
	m.agent.busy, m.agent.next = true, w.now.Add(d)
}

// stepsTo lists the remaining steps, so that a retry continues where the first attempt failed.
func (m *machine) stepsTo(w *world) []string {
	target := w.payload(m.agent.order.Release.Name)
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

// payload is the content of a ClusterRelease. Hosts keep it, also if the object is deleted.
func (w *world) payload(release string) refitv1alpha1.ReleasePayload {
	payload, known := w.payloads[release]
	if !known && release != "" { // a backup can be the first order to a node

		payload = releaseOf(strings.TrimPrefix(release, "kubernetes-")).Payload
		w.payloads[release] = payload
	}
	return payload
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
		m.agent.busy, m.agent.old, m.agent.done = false, nil, m.agent.order.Release.Name
		if m.containerd != "" {
			m.containerd = w.payload(m.agent.order.Release.Name).Containerd
		}
		m.phase(refitv1alpha1.NodeSucceeded)
		m.since.completed = w.now
		m.write(func(s *refitv1alpha1.NodeUpgradeStatus) {
			s.CompletionTime, s.Error, s.Steps = stamp(m.clock(w)), nil, nil
		})
		w.note("%s runs %s", m.name, w.payload(m.agent.order.Release.Name).Kubernetes)
		return
	}
	step := m.agent.steps[0]
	m.write(func(s *refitv1alpha1.NodeUpgradeStatus) {
		s.Step, s.Steps = step, append(slices.Clone(s.Steps), refitv1alpha1.StepStatus{Name: stepNames[step], State: refitv1alpha1.StepRunning})
	})
	m.startTimer(w, w.duration(2, 3))
	if step == stepEtcd && !m.othersHealthy(w) {
		return // an agent stops no member unless every other one is healthy
	}
	p := m.part(step)
	p.down = true
	m.stopBackup(w, step)
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
	switch m.agent.status.Phase {
	case refitv1alpha1.NodePrefetching:
		m.agent.busy = false
		if m.agent.fails {
			m.fail(w, stepFetch, "the mirror answers 503")
			return
		}
		m.agent.fetched = append(m.agent.fetched, m.agent.order.Release.Name)
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
		if m.clock(w).Sub(m.agent.status.StartTime.Time) > etcdWaitTimeout {
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
	target := w.payload(m.agent.order.Release.Name)
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
	if m.agent.order.Rollback == refitv1alpha1.RollbackManual {
		m.agent.busy = false
		return
	}
	m.rollBack(w)
}

func (m *machine) fail(w *world, step, why string) {
	m.agent.fails = false
	w.note("! %s fails at %s: %s", m.name, step, why)
	m.phase(refitv1alpha1.NodeFailed)
	m.write(func(s *refitv1alpha1.NodeUpgradeStatus) {
		s.CompletionTime = stamp(m.clock(w))
		s.Error = &refitv1alpha1.NodeError{
			Class: refitv1alpha1.FailureManualIntervention, Reason: "StepFailed", Step: step, Message: why, Remedy: "Fix " + step + " on the host, then run `refit retry`", At: *stamp(m.clock(w)),
		}
	})
}

func (m *machine) rollBack(w *world) {
	m.phase(refitv1alpha1.NodeRollingBack)
	m.write(func(s *refitv1alpha1.NodeUpgradeStatus) { s.StartTime = stamp(m.clock(w)) })
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
	m.write(func(s *refitv1alpha1.NodeUpgradeStatus) { s.CompletionTime, s.Steps = stamp(m.clock(w)), nil })
	w.note("%s is rolled back to %s", m.name, m.kubelet.version)
}

// phase writes the agent's phase.
func (m *machine) phase(p refitv1alpha1.NodePhase) {
	m.write(func(s *refitv1alpha1.NodeUpgradeStatus) {
		s.Phase, s.ObservedSequence, s.Step = p, m.agent.memory.Sequence, ""
	})
}

// write changes the agent's part of the status.
func (m *machine) write(change func(*refitv1alpha1.NodeUpgradeStatus)) {
	change(&m.agent.status)
	m.writeUpgrade(func(u *cluster.Upgrade) {
		drain, trial := u.Status.Drain, u.Status.Trial
		u.Status = m.agent.status
		u.Status.Drain, u.Status.Trial = drain, trial
	})
}

// correctStatus writes the status again if the cluster has another one, as after a restore of etcd.
func (m *machine) correctStatus() {
	if m.upgrade == nil || string(m.upgrade.Spec.NodeUID) != m.uid || m.agent.memory.Sequence == 0 {
		return
	}
	if is := &m.upgrade.Status; is.ObservedSequence != m.agent.status.ObservedSequence || is.Phase != m.agent.status.Phase ||
		is.Backup != m.agent.status.Backup {
		m.write(func(*refitv1alpha1.NodeUpgradeStatus) {})
	}
}

// writeUpgrade replaces the stored NodeUpgrade. Observations that share the old one do not change.
func (m *machine) writeUpgrade(change func(*cluster.Upgrade)) {
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
