package plan

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// failureStories are about nodes that fail.
var failureStories = []story{
	{
		name:     "one-node-slow",
		summary:  "A step on worker-1 takes 50 minutes, and the node is ready. It is reported after half an hour, while the others progress, and the operation does not stall.",
		scenario: minor(shape(1, 30), atOnce(2)), ends: Succeeded, duration: 3 * time.Hour,
		script: []scriptEvent{{applying("worker-1"), func(t *storyRun) {
			t.note("! a step on worker-1 hangs")
			m := t.machine("worker-1")
			m.agent.next, m.kubelet.down = t.now.Add(50*time.Minute), false
		}}, {at(61), func(t *storyRun) { t.machine("worker-1").kubelet.down = true }}},
	},
	{
		name:     "rolled-back",
		summary:  "The new kubelet of worker-1 does not become healthy. Its agent rolls it back, the operation stalls, and the user retries.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{
			{applying("worker-1"), failsNextStep("worker-1")},
			{later(5, is(Stalled)), func(t *storyRun) { t.retry() }},
		},
	},
	{
		name:     "agent-stops-prefetching",
		summary:  "The agent on worker-1 stops while it prefetches. Refit probes it, and then requires manual intervention.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{{fetching("worker-1"), agentStops("worker-1")}, {later(5, is(Stalled)), agentStarts("worker-1")}},
	},
	{
		name:     "agent-waits",
		summary:  "Another package manager runs on worker-1 for long, and its agent waits before it changes the host. The operation reports that and continues by itself.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{{claimed("worker-1"), func(t *storyRun) {
			m := t.machine("worker-1")
			m.agent.lockedUntil = t.now.Add(20 * time.Minute)
			t.note("! another package manager runs on %s until %s", m.name, clock(m.agent.lockedUntil))
		}}},
	},
	{
		name:     "agent-stops-upgrading",
		summary:  "The agent on worker-1 stops while it upgrades the host. Nothing else starts, and manual intervention is required.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{{applying("worker-1"), agentStops("worker-1")}, {later(5, is(Stalled)), agentStarts("worker-1")}},
	},
	{
		name:     "canary-fails",
		summary:  "The canary does not become healthy. It is rolled back, and no other node of the pool starts.",
		scenario: minor(shape(1, 4), oneCanary()), ends: Aborted,
		script: []scriptEvent{{applying("worker-1"), failsNextStep("worker-1")}, {later(30, is(Stalled)), func(t *storyRun) { t.abort() }}},
	},
	{
		name:     "canary-unhealthy",
		summary:  "The canary becomes unhealthy during its soak. The soak starts over, and no other node takes its place.",
		scenario: minor(shape(1, 3), oneCanary()), ends: Succeeded,
		script: []scriptEvent{{later(5, upgraded("worker-1")), goesDown("worker-1")}, {later(8, upgraded("worker-1")), comesUp("worker-1")}},
	},
	{
		name:     "manual-retry",
		summary:  "With rollback Manual, a control plane node that fails stays as it is. The others must be healthy before a retry.",
		scenario: minor(shape(3, 0), spec(manual)), ends: Succeeded,
		script: []scriptEvent{
			{applying("cp-2"), failsNextStep("cp-2")},
			{later(3, is(Stalled)), thirdServer(false)},
			{later(4, is(Stalled)), func(t *storyRun) { t.retry() }},
			{later(10, is(Stalled)), thirdServer(true)},
		},
	},
	{
		name:     "manual-abort",
		summary:  "With rollback Manual, a node that fails stays as it is. The user aborts: the node is rolled back and uncordoned, and the operation ends.",
		scenario: minor(shape(1, 2), spec(manual)), ends: Aborted,
		script: []scriptEvent{{applying("worker-1"), failsNextStep("worker-1")}, {later(5, is(Stalled)), func(t *storyRun) { t.abort() }}},
	},
	{
		name:     "abort-rollback-fails",
		summary:  "The user aborts, and the rollback fails too. The operation does not end, but requires manual intervention until the host is fixed.",
		scenario: minor(shape(1, 2), spec(manual)), ends: Aborted,
		script: []scriptEvent{
			{applying("worker-1"), failsNextStep("worker-1")},
			{later(5, is(Stalled)), func(t *storyRun) { t.machine("worker-1").agent.fails = true; t.abort() }},
			{at(30), func(t *storyRun) { t.fixHost(t.machine("worker-1")); t.retry() }},
		},
	},
	{
		name:     "retry-blocked",
		summary:  "worker-1 fails partly changed, and the user uncordons it while fixing it. The retry drains it again; the drain is blocked, and a partly changed host is not skipped.",
		scenario: minor(shape(1, 2), spec(manual), pods(load{"cart", 4, 1, false}), drains(5*time.Minute, refitv1alpha1.OnBlockedSkip)), ends: Succeeded,
		script: []scriptEvent{
			{applying("worker-1"), failsNextStep("worker-1")},
			{later(2, is(Stalled)), func(t *storyRun) {
				t.machine("worker-1").kubelet.down = false
				t.note("* the user starts the old kubelet on worker-1")
				t.uncordonByHand(t.machine("worker-1"))
				t.machine("worker-2").cordoned, t.machine("worker-2").cordonedByUser = true, true
				t.note("* the user cordons worker-2")
				t.workloads[0].scale(6)
				t.note("* shop/cart is scaled to 6, and its budget allows no eviction")
				t.workloads[0].maxUnavailable = 0
			}},
			{later(4, is(Stalled)), func(t *storyRun) { t.retry() }},
			{at(25), func(t *storyRun) { t.relaxBudgets(); t.uncordonByHand(t.machine("worker-2")) }},
		},
	},
	{
		name:     "node-lost",
		summary:  "worker-1 goes down during its upgrade. Refit waits, then requires manual intervention; once the host is up its agent continues.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{{applying("worker-1"), goesDown("worker-1")}, {later(5, is(Stalled)), comesUp("worker-1")}},
	},
	{
		name:     "not-ready-after",
		summary:  "The kubelet of worker-1 stops just as its agent finishes. The node stays cordoned until it is ready.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{
			{kubeletSwapped("worker-1"), func(t *storyRun) {
				t.note("! the kubelet on worker-1 stops")
				t.machine("worker-1").kubelet.unhealthy = true
			}},
			{later(5, is(Stalled)), func(t *storyRun) { t.fixHost(t.machine("worker-1")) }},
		},
	},
	{
		name:     "version-reported-late",
		summary:  "worker-1 is upgraded and ready, and its Node object still has the old version. It stays cordoned until that changes.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{
			{kubeletSwapped("worker-1"), func(t *storyRun) { t.machine("worker-1").hidesVersion = true }},
			{later(3, upgraded("worker-1")), func(t *storyRun) {
				t.note("! worker-1 reports its new version")
				t.machine("worker-1").hidesVersion = false
			}},
		},
	},
	{
		name:     "not-ready-after-rollback",
		summary:  "worker-1 is rolled back, and its old kubelet stops. The node stays cordoned until it is ready.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{
			{applying("worker-1"), failsNextStep("worker-1")},
			{rollingBack("worker-1"), func(t *storyRun) {
				t.note("! the kubelet on worker-1 stops")
				t.machine("worker-1").kubelet.unhealthy = true
			}},
			{at(25), func(t *storyRun) { t.fixHost(t.machine("worker-1")) }},
			{at(30), func(t *storyRun) { t.retry() }},
		},
	},
	{
		name:     "worker-not-ready",
		summary:  "worker-1 is not ready. It is not upgraded, and it counts against maxUnavailable.",
		scenario: minor(shape(1, 3)), ends: Succeeded,
		script: []scriptEvent{{claimed("cp-1"), goesDown("worker-1")}, {later(15, is(Stalled)), comesUp("worker-1")}},
	},
	{
		name:     "worker-down-while-prefetching",
		summary:  "worker-1 goes down while it prefetches. Nothing is disrupted before every node has prefetched.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{{at(0.3), goesDown("worker-1")}, {later(15, is(Stalled)), comesUp("worker-1")}},
	},
	{
		name:     "slot-lost",
		summary:  "worker-2 goes down just after worker-1 was claimed. No slot is left for worker-1, so it is released before anything is disrupted.",
		scenario: minor(shape(1, 3)), ends: Succeeded,
		script: []scriptEvent{{claimed("worker-1"), goesDown("worker-2")}, {later(5, claimed("worker-1")), comesUp("worker-2")}},
	},
	{
		name:     "limit-lowered",
		summary:  "Two workers have just been claimed when the user lowers maxUnavailable to 1. Both are released, so that neither waits for the other.",
		scenario: minor(shape(1, 3), atOnce(2)), ends: Succeeded,
		script: []scriptEvent{
			{claimed("worker-1"), func(t *storyRun) {
				one := intstr.FromInt32(1)
				t.meaning++
				t.edit(func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Pools[0].MaxUnavailable = &one }, "the user lowers maxUnavailable to 1")
				t.approve()
			}},
		},
	},
	{
		name:     "node-abandoned",
		summary:  "worker-1 goes down during its upgrade and does not come back. The user abandons it: its agent gets the order to start nothing new, and the rest is upgraded.",
		scenario: minor(shape(1, 3)), ends: Succeeded,
		script: []scriptEvent{{applying("worker-1"), goesDown("worker-1")}, {later(15, applying("worker-1")), func(t *storyRun) { t.abandon("worker-1") }}},
	},
	{
		name:     "node-abandoned-abort",
		summary:  "The same, and the user aborts. The operation ends once the node is abandoned.",
		scenario: minor(shape(1, 2)), ends: Aborted,
		script: []scriptEvent{
			{applying("worker-1"), goesDown("worker-1")},
			{later(15, applying("worker-1")), func(t *storyRun) { t.abort() }},
			{later(30, applying("worker-1")), func(t *storyRun) { t.abandon("worker-1") }},
		},
	},
	{
		name:     "version-never-reported",
		summary:  "worker-1 is upgraded and ready, and its Node object never has the new version. Manual intervention is required after a while.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{
			{kubeletSwapped("worker-1"), func(t *storyRun) { t.machine("worker-1").hidesVersion = true }},
			{later(5, is(Stalled)), func(t *storyRun) { t.machine("worker-1").hidesVersion = false }},
		},
	},
}
