package plan

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// controllerStories are about controllers that crash or lag.
var controllerStories = []story{
	{
		name:     "leader-crashes",
		summary:  "The leader crashes while worker-1 is drained. A new leader, which has no state, continues.",
		scenario: minor(shape(1, 2), pods(load{"cart", 4, 0, false})), ends: Succeeded,
		script: []scriptEvent{
			{later(2, draining("worker-1")), func(t *storyRun) {
				t.note("! the leader crashes, and another one takes over")
				t.leader = t.takeOver("Refit")
			}},
			{later(4, draining("worker-1")), func(t *storyRun) { t.relaxBudgets() }},
		},
	},
	{
		name:     "deposed-leader",
		summary:  "A leader is suspended for a minute and does not notice that another one has taken over. The fences refuse what it decides on its old Snapshot.",
		scenario: minor(shape(1, 3)), ends: Succeeded,
		script: []scriptEvent{
			{func(t *storyRun) bool { return upgraded("cp-1")(t) && len(t.op.Active) == 0 }, func(t *storyRun) {
				t.note("! the leader is suspended, and another one takes over")
				old := *t.leader
				old.name, old.view, old.fresh = "the old leader", t.observe(), false
				t.old, t.leader = &old, t.takeOver("Refit")
			}},
			{later(1, claimed("worker-1")), func(t *storyRun) {
				t.note("! the old leader resumes")
				t.decide(t.old)
			}},
		},
	},
	{
		name:     "stray-cordon",
		summary:  "A leader is suspended just before it cordons worker-1. Meanwhile the user pauses and worker-1 is released. The old leader's cordon is removed again.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: deposedOverAPause(),
	},
	{
		name:     "claims-removed",
		summary:  "Someone clears status.active before cp-3 is changed, and the endpoint's address has moved to cp-3. cp-1 would be next, but cp-3 is claimed again: its agent waits for its claim.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{{func(t *storyRun) bool {
			return t.machine("cp-3").upgrade != nil && t.machine("cp-3").upgrade.Spec.Permit == refitv1alpha1.PermitApply
		}, func(t *storyRun) {
			t.note("! the endpoint's address moves to cp-3")
			t.vip = "cp-3"
			claimedByHand()(t)
		}}},
	},
	{
		name:     "webhook-denies",
		summary:  "A webhook denies the cordon of worker-1. After a minute the operation stalls with its message, and continues once the webhook is fixed.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{
			{claimed("worker-1"), func(t *storyRun) {
				t.note("! a webhook denies changes of Nodes")
				t.deniedSince = t.now
			}},
			{later(5, is(Stalled)), func(t *storyRun) {
				t.note("* the user fixes the webhook")
				t.deniedSince = time.Time{}
			}},
		},
	},
	{
		name:     "changed-for-another",
		summary:  "The host of cp-2 is still being changed for an operation that no longer exists. It gets no order until it is done, and no other control plane node starts.",
		scenario: minor(shape(3, 0), upgradePath("v1.36.1", "v1.36.3", "v1.36.3", "v1.36.2")), ends: Succeeded,
		before: func(w *world) { w.changeFor("cp-2", "last-week", "kubernetes-v1.36.2", 12) },
	},
	{
		name:     "changed-for-another-late",
		summary:  "The host of cp-2 resumes a change for another operation after it has prefetched. cp-1 waits for it.",
		scenario: minor(shape(3, 0), upgradePath("v1.36.1", "v1.36.3", "v1.36.3", "v1.36.2")), ends: Succeeded,
		script: []scriptEvent{{prefetchedAll, func(t *storyRun) { t.changeFor("cp-2", "last-week", "kubernetes-v1.36.2", 12) }}},
	},
	{
		name:     "deposed-leader-after-pause",
		summary:  "A leader is suspended just before it orders the upgrade of worker-1. Meanwhile the user pauses and worker-1 is released: the order is refused.",
		scenario: minor(shape(1, 2), upgradePath("v1.36.1", "v1.36.3", "v1.36.3")), ends: Succeeded,
		script: deposedOverAPause(),
	},
}

// deposedOverAPause suspends a leader that has claimed worker-1, and resumes it while the operation
// is paused under another one. Script events have state, so each story has its own.
func deposedOverAPause() []scriptEvent {
	return []scriptEvent{
		{claimed("worker-1"), func(t *storyRun) {
			t.note("! the leader is suspended, and another one takes over")
			old := *t.leader
			old.name, old.view, old.fresh = "the old leader", t.observe(), false
			t.old, t.leader = &old, t.takeOver("Refit")
			t.edit(pause, "the user pauses")
		}},
		{later(2, is(Paused)), func(t *storyRun) {
			t.note("! the old leader resumes")
			t.decide(t.old)
		}},
		{later(10, is(Paused)), edits(resume, "the user resumes")},
	}
}

// changeFor lets the host of a node be changed for another operation.
func (w *world) changeFor(name, operation, release string, ticks int) {
	w.note("! the host of %s is being changed for operation %s", name, operation)
	m := w.machine(name)
	m.agent.memory.Sequence++
	m.agent.memory.Epoch, m.agent.memory.NodeUID = max(1, m.agent.memory.Epoch), types.UID(m.uid)
	m.agent.order = refitv1alpha1.NodeUpgradeSpec{
		Format: refitv1alpha1.MinOrderFormat, Operation: refitv1alpha1.Operation{Name: operation, UID: types.UID(operation)}, NodeUID: types.UID(m.uid),
		MachineID: m.id, Sequence: m.agent.memory.Sequence, Epoch: m.agent.memory.Epoch, Role: refitv1alpha1.RoleControlPlane,
		Release: refitv1alpha1.ReleaseRef{Name: release}, Permit: refitv1alpha1.PermitApply, OrderTime: stamp(w.now),
	}
	m.upgrade = &cluster.Upgrade{Spec: m.agent.order}
	m.agent.old = map[string]string{stepEtcd: m.etcd.version, stepServer: m.apiServer.version, stepKubelet: m.kubelet.version}
	m.agent.steps = []string{stepKubelet}
	m.phase(refitv1alpha1.NodeApplying)
	m.startStep(w)
	m.agent.next = w.now.Add(time.Duration(ticks) * tick)
	m.writeReport(w)
}

// prefetchedAll reports whether every node has prefetched, and none is claimed.
func prefetchedAll(t *storyRun) bool {
	return !slices.ContainsFunc(t.machines, func(m *machine) bool {
		return m.upgrade == nil || m.upgrade.Status.Phase != refitv1alpha1.NodePrefetched
	})
}
