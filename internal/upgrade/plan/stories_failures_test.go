package plan

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// failureStories are about nodes that fail.
var failureStories = []story{
	{
		name: "rolled-back", tells: "The new kubelet of worker-1 does not become healthy. Its agent puts it back, the operation stops, and a person says retry.",
		scene: minor(shape(1, 2)), ends: Succeeded,
		script: []turn{
			{applying("worker-1"), breaksDown("worker-1")},
			{later(5, is(Stalled)), func(t *telling) { t.retry() }},
		},
	},
	{
		name: "agent-dies-fetching", tells: "The agent on worker-1 dies while it fetches. It is asked, does not answer, and a person is told where to look.",
		scene: minor(shape(1, 2)), ends: Succeeded,
		script: []turn{{fetching("worker-1"), dies("worker-1")}, {later(5, is(Stalled)), startsAgain("worker-1")}},
	},
	{
		name: "agent-dies-changing", tells: "The agent on worker-1 dies while it changes the host. Nothing else begins, and a person is told where to look.",
		scene: minor(shape(1, 2)), ends: Succeeded,
		script: []turn{{applying("worker-1"), dies("worker-1")}, {later(5, is(Stalled)), startsAgain("worker-1")}},
	},
	{
		name: "canary-fails", tells: "The canary does not become healthy. It is put back, and no other node of the pool begins.",
		scene: minor(shape(1, 4), canaries(1, 10*time.Minute)), ends: Aborted,
		script: []turn{{applying("worker-1"), breaksDown("worker-1")}, {later(30, is(Stalled)), func(t *telling) { t.abort() }}},
	},
	{
		name: "canary-falls-ill", tells: "The canary was upgraded and falls ill while it soaks: it is asked to be healthy for the whole time anew, and nobody goes in its place.",
		scene: minor(shape(1, 3), canaries(1, 10*time.Minute)), ends: Succeeded,
		script: []turn{{later(5, upgraded("worker-1")), fails("worker-1")}, {later(8, upgraded("worker-1")), returns("worker-1")}},
	},
	{
		name: "manual-retry", tells: "With rollback Manual a control plane node that fails stays as it is. The others must be well before it is tried again.",
		scene: minor(shape(3, 0), spec(manual)), ends: Succeeded,
		script: []turn{
			{applying("cp-2"), breaksDown("cp-2")},
			{later(3, is(Stalled)), server("cp-3", false)},
			{later(4, is(Stalled)), func(t *telling) { t.retry() }},
			{later(10, is(Stalled)), server("cp-3", true)},
		},
	},
	{
		name: "manual-abort", tells: "With rollback Manual a node that fails stays as it is. A person aborts: it is put back, uncordoned, and the operation ends.",
		scene: minor(shape(1, 2), spec(manual)), ends: Aborted,
		script: []turn{{applying("worker-1"), breaksDown("worker-1")}, {later(5, is(Stalled)), func(t *telling) { t.abort() }}},
	},
	{
		name: "abort-cannot-put-back", tells: "A person aborts, and the node cannot be put back either. The operation does not end as if all were well: it says so, until a person has mended the host.",
		scene: minor(shape(1, 2), spec(manual)), ends: Aborted,
		script: []turn{
			{applying("worker-1"), breaksDown("worker-1")},
			{later(5, is(Stalled)), func(t *telling) { t.machine("worker-1").agent.fails = true; t.abort() }},
			{at(30), func(t *telling) { t.mendHost(t.machine("worker-1")); t.retry() }},
		},
	},
	{
		name: "retry-blocked", tells: "worker-1 fails half changed, and a person uncordons it while mending it. Before it is tried again it is emptied again; that is blocked, and a host that is half changed is not skipped.",
		scene: minor(shape(1, 2), spec(manual), pods(load{"cart", 4, 1, false}), drains(5*time.Minute, refitv1alpha1.OnBlockedSkip)), ends: Succeeded,
		script: []turn{
			{applying("worker-1"), breaksDown("worker-1")},
			{later(2, is(Stalled)), func(t *telling) {
				t.machine("worker-1").kubelet.away = false
				t.tell("* a person starts the old kubelet on worker-1 again")
				t.uncordonByHand(t.machine("worker-1"))
				t.machine("worker-2").cordoned, t.machine("worker-2").byHand = true, true
				t.tell("* somebody cordons worker-2")
				t.workloads[0].scale(6)
				t.tell("* shop/cart is scaled to 6, and its budget lets 0 be away")
				t.workloads[0].most = 0
			}},
			{later(4, is(Stalled)), func(t *telling) { t.retry() }},
			{at(25), func(t *telling) { t.relax(); t.uncordonByHand(t.machine("worker-2")) }},
		},
	},
	{
		name: "host-lost", tells: "worker-1 goes down while it is being changed. Refit waits, then asks for a person; when the host is back its agent goes on.",
		scene: minor(shape(1, 2)), ends: Succeeded,
		script: []turn{{applying("worker-1"), fails("worker-1")}, {later(5, is(Stalled)), returns("worker-1")}},
	},
	{
		name: "not-ready-after", tells: "The kubelet of worker-1 stops just as its agent has finished. The node stays cordoned until it is ready.",
		scene: minor(shape(1, 2)), ends: Succeeded,
		script: []turn{
			{kubeletSwapped("worker-1"), func(t *telling) { t.tell("! the kubelet on worker-1 stops"); t.machine("worker-1").kubelet.ill = true }},
			{later(5, is(Stalled)), func(t *telling) { t.mendHost(t.machine("worker-1")) }},
		},
	},
	{
		name: "version-reported-late", tells: "worker-1 is upgraded and ready, and its Node object still shows the old version. It stays cordoned until it shows the new one.",
		scene: minor(shape(1, 2)), ends: Succeeded,
		script: []turn{
			{kubeletSwapped("worker-1"), func(t *telling) { t.machine("worker-1").reticent = true }},
			{later(3, upgraded("worker-1")), func(t *telling) {
				t.tell("! worker-1 reports its new version")
				t.machine("worker-1").reticent = false
			}},
		},
	},
	{
		name: "not-ready-after-rollback", tells: "worker-1 is rolled back, and its old kubelet stops. The node stays cordoned until it is ready.",
		scene: minor(shape(1, 2)), ends: Succeeded,
		script: []turn{
			{applying("worker-1"), breaksDown("worker-1")},
			{rollingBack("worker-1"), func(t *telling) { t.tell("! the kubelet on worker-1 stops"); t.machine("worker-1").kubelet.ill = true }},
			{at(25), func(t *telling) { t.mendHost(t.machine("worker-1")) }},
			{at(30), func(t *telling) { t.retry() }},
		},
	},
	{
		name: "worker-not-ready", tells: "worker-1 is not ready. It is not upgraded, and it uses up what may be unavailable.",
		scene: minor(shape(1, 3)), ends: Succeeded,
		script: []turn{{claimed("cp-1"), fails("worker-1")}, {later(15, is(Stalled)), returns("worker-1")}},
	},
	{
		name: "worker-fails-early", tells: "worker-1 goes down while it fetches. Nothing is disrupted before everything is everywhere.",
		scene: minor(shape(1, 2)), ends: Succeeded,
		script: []turn{{at(0.3), fails("worker-1")}, {later(15, is(Stalled)), returns("worker-1")}},
	},
	{
		name: "slot-lost", tells: "worker-2 goes down just after worker-1 was claimed: there is no slot for worker-1 any more, so it is given back before anything is disrupted.",
		scene: minor(shape(1, 3)), ends: Succeeded,
		script: []turn{{claimed("worker-1"), fails("worker-2")}, {later(5, claimed("worker-1")), returns("worker-2")}},
	},
	{
		name: "limit-lowered", tells: "Two workers have just been claimed when a person lowers maxUnavailable to 1. Both cannot begin, and neither waits for the other: both are given back.",
		scene: minor(shape(1, 3), atOnce(2)), ends: Succeeded,
		script: []turn{
			{claimed("worker-1"), func(t *telling) {
				one := intstr.FromInt32(1)
				t.meaning++
				t.edit(func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Pools[0].MaxUnavailable = &one }, "a person lowers maxUnavailable to 1")
				t.approve()
			}},
		},
	},
}
