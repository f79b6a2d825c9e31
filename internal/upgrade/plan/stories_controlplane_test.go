package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// reinstalled reinstalls a control plane node under its name at an old version.
func reinstalled(name, version string) func(*storyRun) {
	return func(t *storyRun) {
		t.note("! %s is reinstalled at %s", name, version)
		old := t.machine(name)
		t.leave(old)
		if !t.external {
			t.members = without(t.members, name)
		}
		t.join(name, true, version, old.labels)
	}
}

// externalMember is a member of an external etcd that fails. An empty name repairs it.
func externalMember(name string) func(*storyRun) {
	return func(t *storyRun) {
		if name != "" {
			t.note("! the member %s of the external etcd fails", name)
		} else {
			t.note("* the user repairs the external etcd")
		}
		t.lost = name
	}
}

// agentOfVersion is an agent that is replaced by one of an older version, or by the present one.
func agentOfVersion(name, version string) func(*storyRun) {
	return func(t *storyRun) {
		if version != "" {
			t.note("! the agent on %s is replaced by %s, which does not report an external etcd", name, version)
		} else {
			t.note("* the user runs refit install")
		}
		t.machine(name).agent.version = version
	}
}

func without(names []string, name string) []string {
	var out []string
	for _, other := range names {
		if other != name {
			out = append(out, other)
		}
	}
	return out
}

// passive makes agents report only on request, so that their last reports may be stale.
func passive(w *world) {
	for _, m := range w.machines {
		m.agent.passive = true
	}
}

func byHand(name, version string) func(*storyRun) {
	return func(t *storyRun) {
		t.note("* the user upgrades %s to %s by hand", name, version)
		m := t.machine(name)
		m.apiServer.version, m.kubelet.version = version, version
		m.updateStaticPods()
	}
}

// controlPlaneStories are about etcd, API servers and control plane nodes.
var controlPlaneStories = []story{
	{
		name:     "control-plane-not-ready",
		summary:  "cp-3 is not ready after the upgrade of cp-2. No second control plane node may be unavailable, so cp-1 waits.",
		scenario: minor(shape(3, 0)), ends: Succeeded, before: func(w *world) { w.vip = "cp-3" },
		script: []scriptEvent{
			{upgraded("cp-1"), func(t *storyRun) { t.note("! the kubelet on cp-3 stops"); t.machine("cp-3").kubelet.unhealthy = true }},
			{at(25), func(t *storyRun) { t.fixHost(t.machine("cp-3")) }},
		},
	},
	{
		name:     "control-plane-not-ready-in-drain",
		summary:  "The kubelet of cp-3 stops while cp-2 is drained. cp-2 is not upgraded until cp-3 is ready.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{
			{cordoned("cp-2"), func(t *storyRun) { t.note("! the kubelet on cp-3 stops"); t.machine("cp-3").kubelet.unhealthy = true }},
			{at(20), func(t *storyRun) { t.fixHost(t.machine("cp-3")) }},
		},
	},
	{
		name:     "member-down",
		summary:  "An etcd member is unhealthy before the first control plane node. Refit reports which one, and continues once it is healthy.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{{at(0), member("cp-3", false)}, {at(10), member("cp-3", true)}},
	},
	{
		name:     "member-down-in-drain",
		summary:  "An etcd member fails while cp-2 is drained. cp-2 is not upgraded until the member is healthy.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{{cordoned("cp-2"), member("cp-3", false)}, {at(10), member("cp-3", true)}},
	},
	{
		name:     "member-down-after",
		summary:  "An etcd member fails while cp-2 is upgraded. cp-2 is not released until the whole control plane is healthy.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{{func(t *storyRun) bool { return t.machine("cp-2").kubelet.down }, member("cp-3", false)}, {at(12), member("cp-3", true)}},
	},
	{
		name:     "member-down-at-end",
		summary:  "An etcd member fails while the last worker is upgraded. The upgrade does not succeed until the control plane is healthy.",
		scenario: minor(shape(3, 1)), ends: Succeeded,
		script: []scriptEvent{{applying("worker-1"), member("cp-3", false)}, {at(25), member("cp-3", true)}},
	},
	{
		name:     "external-member-down",
		summary:  "A member of an external etcd fails while cp-2 is drained. cp-2 is not upgraded until the member is healthy.",
		scenario: minor(shape(3, 0), func(sc *scenario) { sc.external = true }), ends: Succeeded,
		script: []scriptEvent{{cordoned("cp-2"), externalMember("etcd-3")}, {at(20), externalMember("")}},
	},
	{
		name:     "external-agent-older",
		summary:  "An agent that does not report the external etcd is installed while cp-2 is drained. The remedy names its version.",
		scenario: minor(shape(3, 0), func(sc *scenario) { sc.external = true }), ends: Succeeded,
		script: []scriptEvent{{cordoned("cp-2"), agentOfVersion("cp-3", "v0.1.0")}, {at(20), agentOfVersion("cp-3", "")}},
	},
	{
		name:     "stale-reports",
		summary:  "An etcd member has failed, and its agent has not reported it. Refit requests fresh reports instead of relying on those of an hour ago.",
		scenario: minor(shape(3, 0), spec(waiveBackup)), ends: Succeeded,
		before: func(w *world) {
			passive(w)
			w.now = simulationStart.Add(-3600e9)
			for _, m := range w.machines {
				m.writeReport(w)
			}
			w.now = simulationStart
		},
		script: []scriptEvent{{at(0), member("cp-3", false)}, {at(10), member("cp-3", true)}},
	},
	{
		name:     "stale-reports-in-drain",
		summary:  "The same while cp-2 is drained, which takes longer than reports stay fresh.",
		scenario: minor(shape(3, 1), pods(load{"cart", 4, 0, true})), ends: Succeeded, before: passive,
		script: []scriptEvent{
			{later(1, cordoned("cp-2")), member("cp-3", false)},
			{later(6, cordoned("cp-2")), func(t *storyRun) { t.relaxBudgets() }},
			{later(12, cordoned("cp-2")), member("cp-3", true)},
		},
	},
	{
		name:     "stale-reports-after",
		summary:  "An etcd member fails while cp-2 is upgraded, and its agent does not report it. Reports from before the upgrade do not count.",
		scenario: minor(shape(3, 0)), ends: Succeeded, before: passive,
		script: []scriptEvent{{func(t *storyRun) bool { return t.machine("cp-2").kubelet.down }, member("cp-3", false)}, {at(12), member("cp-3", true)}},
	},
	{
		name:     "server-not-ready",
		summary:  "An API server is not ready at its own address before the first control plane node.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{{at(0), thirdServer(false)}, {at(10), thirdServer(true)}},
	},
	{
		name:     "server-not-ready-in-drain",
		summary:  "An API server becomes unready while cp-2 is drained.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{{cordoned("cp-2"), thirdServer(false)}, {at(10), thirdServer(true)}},
	},
	{
		name:     "server-not-ready-after",
		summary:  "An API server becomes unready while cp-2 is upgraded. cp-2 is not released until it is ready.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{{func(t *storyRun) bool { return t.machine("cp-2").kubelet.down }, thirdServer(false)}, {at(12), thirdServer(true)}},
	},
	{
		name:     "pods-disconnected",
		summary:  "Pods on cp-2 have no network after its upgrade. It stays cordoned, and no other node is upgraded, until a trial Pod reaches the API.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{{func(t *storyRun) bool { return t.machine("cp-2").kubelet.down }, disconnected("cp-2")}, {at(12), connected("cp-2")}},
	},
	{
		name:     "pods-disconnected-single-node",
		summary:  "The same on the only node of a cluster, where nothing is cordoned.",
		scenario: minor(shape(1, 0)), ends: Succeeded,
		script: []scriptEvent{{applying("cp-1"), disconnected("cp-1")}, {at(12), connected("cp-1")}},
	},
	{
		name:     "pods-disconnected-abort",
		summary:  "Pods on cp-2 have no network, and the user aborts. Refit uncordons the node nevertheless.",
		scenario: minor(shape(3, 0)), ends: Aborted,
		script: []scriptEvent{{func(t *storyRun) bool { return t.machine("cp-2").kubelet.down }, disconnected("cp-2")}, {at(12), func(t *storyRun) { t.abort() }}},
	},
	{
		name:     "trial-does-not-end",
		summary:  "The trial Pod on cp-2 does not finish. After a while manual intervention is required.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{
			{applying("cp-2"), func(t *storyRun) { t.machine("cp-2").trial.hangs = true }},
			{at(12), func(t *storyRun) { t.machine("cp-2").trial.hangs = false }},
		},
	},
	{
		name:     "two-members-not-waived",
		summary:  "etcd has two members, and the user has not waived the outage. Nothing starts, and the user aborts.",
		scenario: minor(shape(2, 0)), ends: Aborted,
		script: []scriptEvent{{at(15), func(t *storyRun) { t.abort() }}},
	},
	{
		name:     "server-too-old",
		summary:  "cp-3 is reinstalled with a version older than the plan starts from. API servers may not be two minor versions apart.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{{at(0.2), reinstalled("cp-3", "v1.34.4")}, {later(5, is(Stalled)), byHand("cp-3", "v1.35.4")}},
	},
	{
		name:     "server-reinstalled",
		summary:  "Before the second hop cp-3 is reinstalled with the version it started from. It repeats the first hop before the others continue.",
		scenario: minor(shape(3, 0), upgradePath("v1.35.4", "v1.37.1", "v1.36.3", "v1.37.1")), ends: Succeeded,
		script: []scriptEvent{{func(t *storyRun) bool {
			return t.machine("cp-2").upgrade != nil && t.machine("cp-2").upgrade.Spec.Release.Name == "kubernetes-v1.37.1"
		}, reinstalled("cp-3", "v1.35.4")}},
	},
	{
		name:     "address-moves",
		summary:  "The API endpoint's address moves to cp-2 while cp-2 is drained. cp-1 would be next and waits: one at a time.",
		scenario: minor(shape(3, 1), pods(load{"cart", 4, 0, true})), ends: Succeeded,
		script: []scriptEvent{
			{cordoned("cp-2"), func(t *storyRun) { t.note("! the endpoint's address moves to cp-2"); t.vip = "cp-2" }},
			{later(2, draining("cp-2")), func(t *storyRun) { t.relaxBudgets() }},
		},
	},
	{
		name:     "endpoint-silent",
		summary:  "The API endpoint does not answer cp-3 before the first control plane node. Refit continues once it answers every control plane node.",
		scenario: minor(shape(3, 0), spec(waiveBackup)), ends: Succeeded,
		script: []scriptEvent{{at(0), cutOff(true)}, {at(10), cutOff(false)}},
	},
	{
		name:     "endpoint-silent-waived",
		summary:  "The API endpoint never answers cp-3, and the user has waived that for cp-3.",
		scenario: minor(shape(3, 0), spec(waiveBackup), spec(waiveUnreachable("cp-3"))), ends: Succeeded,
		script: []scriptEvent{{at(0), cutOff(true)}},
	},
	{
		name:     "endpoint-silent-aborted",
		summary:  "The API endpoint does not answer cp-3 after cp-2 was upgraded, and the user aborts. The operation ends although it still does not answer.",
		scenario: minor(shape(3, 0)), ends: Aborted,
		script: []scriptEvent{
			{func(t *storyRun) bool { return t.machine("cp-2").kubelet.down }, cutOff(true)},
			{at(15), func(t *storyRun) { t.abort() }},
		},
	},
	{
		name:     "endpoint-silent-in-drain",
		summary:  "The same while cp-2 is drained.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{{cordoned("cp-2"), cutOff(true)}, {at(20), cutOff(false)}},
	},
	{
		name: "address-held-twice",
		summary: "After the upgrade of cp-2, keepalived on cp-2 does not see the others and takes the endpoint's address, too. " +
			"cp-2 is not released until one node holds the address.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{
			{func(t *storyRun) bool { return t.machine("cp-2").kubelet.down }, func(t *storyRun) {
				t.note("! cp-2 holds the endpoint's address, too")
				t.vipAlso = "cp-2"
			}},
			{at(15), func(t *storyRun) { t.note("* the user fixes keepalived on cp-2"); t.vipAlso = "" }},
		},
	},
	{
		name:     "address-lost",
		summary:  "keepalived has stopped on every node, so that no node holds the endpoint's address.",
		scenario: minor(shape(3, 0), spec(waiveBackup)), ends: Succeeded,
		script: []scriptEvent{
			{at(0), func(t *storyRun) { t.note("! keepalived stops on every node"); t.vipLost = true }},
			{at(10), func(t *storyRun) { t.note("* the user starts keepalived"); t.vipLost = false }},
		},
	},
	{
		name:     "load-balancer",
		summary:  "A load balancer outside the cluster has the endpoint's address. No node holds it, so control plane nodes follow their names.",
		scenario: minor(shape(3, 0), spec(waiveBackup)), ends: Succeeded, before: func(w *world) { w.balance() },
	},
	{
		name:     "five-members",
		summary:  "One of five etcd members is unhealthy. The quorum would survive another one, and Refit waits nevertheless.",
		scenario: minor(shape(5, 0)), ends: Succeeded,
		script: []scriptEvent{{at(0), member("cp-4", false)}, {at(10), member("cp-4", true)}},
	},
	{
		name:     "five-members-in-drain",
		summary:  "The same while cp-2 is drained.",
		scenario: minor(shape(5, 0)), ends: Succeeded,
		script: []scriptEvent{{cordoned("cp-2"), member("cp-4", false)}, {at(10), member("cp-4", true)}},
	},
	{
		name:     "server-too-old-in-drain",
		summary:  "The same while cp-2 is drained for the second hop.",
		scenario: minor(shape(3, 0), upgradePath("v1.35.4", "v1.37.1", "v1.36.3", "v1.37.1")), ends: Succeeded,
		script: []scriptEvent{
			{func(t *storyRun) bool {
				return cordoned("cp-2")(t) && t.machine("cp-2").upgrade.Spec.Release.Name == "kubernetes-v1.37.1"
			}, reinstalled("cp-3", "v1.35.4")},
			{later(5, is(Stalled)), byHand("cp-3", "v1.36.3")},
		},
	},
	{
		name:     "kubelet-would-be-newer",
		summary:  "Workers follow their control plane, one of whose nodes is reinstalled with an older version. No kubelet may be newer than an API server.",
		scenario: minor(shape(3, 2), upgradePath("v1.36.3", "v1.36.3", "v1.36.3"), func(sc *scenario) { sc.workersAt = "v1.35.4" }, spec(workersOnly)), ends: Succeeded,
		script: []scriptEvent{{at(0.2), reinstalled("cp-2", "v1.35.4")}, {later(5, is(Stalled)), byHand("cp-2", "v1.36.3")}},
	},
	{
		name:     "kubelet-would-be-newer-in-drain",
		summary:  "The same while worker-1 is drained.",
		scenario: minor(shape(3, 2), upgradePath("v1.36.3", "v1.36.3", "v1.36.3"), func(sc *scenario) { sc.workersAt = "v1.35.4" }, spec(workersOnly)), ends: Succeeded,
		script: []scriptEvent{{cordoned("worker-1"), reinstalled("cp-3", "v1.35.4")}, {later(5, is(Stalled)), byHand("cp-3", "v1.36.3")}},
	},
	{
		name:     "claimed-by-hand",
		summary:  "Someone has written two control plane nodes into status.active. The second is released before the first is upgraded.",
		scenario: minor(shape(3, 0), upgradePath("v1.36.1", "v1.36.3", "v1.36.3"), spec(waiveBackup)), ends: Succeeded,
		script: []scriptEvent{{at(2.1), claimedByHand("cp-2", "cp-1")}},
	},
	{
		name:     "claimed-by-hand-without-quorum",
		summary:  "Someone has claimed one of two etcd members by hand, and the user has not waived the outage.",
		scenario: minor(shape(2, 0), spec(waiveBackup)), ends: Aborted,
		script: []scriptEvent{{at(0.2), claimedByHand("cp-1")}, {at(10), func(t *storyRun) { t.abort() }}},
	},
}

func claimedByHand(names ...string) func(*storyRun) {
	return func(t *storyRun) {
		t.note("* someone writes %v into status.active", names)
		t.op.Active = names
		t.op.version++
	}
}

func waiveUnreachable(node string) func(*refitv1alpha1.ClusterUpgradeSpec) {
	return func(s *refitv1alpha1.ClusterUpgradeSpec) {
		s.Waivers = append(s.Waivers, refitv1alpha1.Waiver{Check: policy.CheckUnreachable, Object: policy.NodeObject(node), Reason: "hairpin"})
	}
}

// cutOff is whether the endpoint answers cp-3.
func cutOff(is bool) func(*storyRun) {
	return func(t *storyRun) {
		t.note("! the API endpoint %s cp-3", map[bool]string{true: "does not answer", false: "answers"}[is])
		t.machine("cp-3").cutOffSince = time.Time{}
		if is {
			t.machine("cp-3").cutOffSince = t.now
		}
	}
}

// balance replaces the virtual IP with a load balancer outside the cluster.
func (w *world) balance() {
	w.balanced = true
	for _, m := range w.machines {
		m.writeReport(w)
	}
}
