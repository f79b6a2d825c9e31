package plan

// reinstalled is a control plane node that somebody sets up anew under its name, at an old version.
func reinstalled(name, version string) func(*telling) {
	return func(t *telling) {
		t.tell("! %s is reinstalled at %s", name, version)
		old := t.machine(name)
		t.leave(old)
		if !t.external {
			t.members = without(t.members, name)
		}
		t.join(name, true, version, old.labels)
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

// asleep is a control plane whose agents tell nothing unasked, so that what they told last may be old news.
func asleep(w *world) {
	for _, m := range w.machines {
		m.agent.asleep = true
	}
}

func byHand(name, version string) func(*telling) {
	return func(t *telling) {
		t.tell("* a person brings %s to %s by hand", name, version)
		m := t.machine(name)
		m.apiServer.version, m.kubelet.version = version, version
		m.draw()
	}
}

// controlPlaneStories are about etcd, API servers and the nodes that carry them.
var controlPlaneStories = []story{
	{
		name: "control-plane-not-ready", tells: "cp-3 is not ready between two turns. No second control plane node may be away, so cp-1 waits.",
		scene: minor(shape(3, 0)), ends: Succeeded, before: func(w *world) { w.vip = "cp-3" },
		script: []turn{
			{upgraded("cp-1"), func(t *telling) { t.tell("! the kubelet on cp-3 stops"); t.machine("cp-3").kubelet.ill = true }},
			{at(25), func(t *telling) { t.mendHost(t.machine("cp-3")) }},
		},
	},
	{
		name: "control-plane-not-ready-in-drain", tells: "The kubelet of cp-3 stops while cp-2 is drained. cp-2 is not changed before it is back.",
		scene: minor(shape(3, 0)), ends: Succeeded,
		script: []turn{
			{cordoned("cp-2"), func(t *telling) { t.tell("! the kubelet on cp-3 stops"); t.machine("cp-3").kubelet.ill = true }},
			{at(20), func(t *telling) { t.mendHost(t.machine("cp-3")) }},
		},
	},
	{
		name: "member-down", tells: "An etcd member does not answer when the next control plane node would go. Refit says which one, and goes on by itself when it is well.",
		scene: minor(shape(3, 0)), ends: Succeeded,
		script: []turn{{at(0), member("cp-3", false)}, {at(10), member("cp-3", true)}},
	},
	{
		name: "member-down-in-drain", tells: "An etcd member goes down while cp-2 is drained. cp-2 is not changed before it is back.",
		scene: minor(shape(3, 0)), ends: Succeeded,
		script: []turn{{cordoned("cp-2"), member("cp-3", false)}, {at(10), member("cp-3", true)}},
	},
	{
		name: "member-down-after", tells: "An etcd member goes down while cp-2 is changed. cp-2 is not done before the whole control plane is well again.",
		scene: minor(shape(3, 0)), ends: Succeeded,
		script: []turn{{func(t *telling) bool { return t.machine("cp-2").kubelet.away }, member("cp-3", false)}, {at(12), member("cp-3", true)}},
	},
	{
		name: "member-down-at-end", tells: "An etcd member goes down while the last worker is upgraded. The upgrade does not succeed before the control plane is healthy again.",
		scene: minor(shape(3, 1)), ends: Succeeded,
		script: []turn{{applying("worker-1"), member("cp-3", false)}, {at(25), member("cp-3", true)}},
	},
	{
		name: "old-news", tells: "An etcd member has gone down and its agent has told nobody. Refit asks before it relies on what it was told an hour ago.",
		scene: minor(shape(3, 0)), ends: Succeeded,
		before: func(w *world) {
			asleep(w)
			w.now = dawn.Add(-3600e9)
			for _, m := range w.machines {
				m.tell(w)
			}
			w.now = dawn
		},
		script: []turn{{at(0), member("cp-3", false)}, {at(10), member("cp-3", true)}},
	},
	{
		name: "old-news-in-drain", tells: "The same while cp-2 is drained, which takes longer than facts stay fresh.",
		scene: minor(shape(3, 1), pods(load{"cart", 4, 0, true})), ends: Succeeded, before: asleep,
		script: []turn{
			{later(1, cordoned("cp-2")), member("cp-3", false)},
			{later(6, cordoned("cp-2")), func(t *telling) { t.relax() }},
			{later(12, cordoned("cp-2")), member("cp-3", true)},
		},
	},
	{
		name: "old-news-after", tells: "An etcd member goes down while cp-2 is changed, and its agent tells nobody. Facts from before the change do not count.",
		scene: minor(shape(3, 0)), ends: Succeeded, before: asleep,
		script: []turn{{func(t *telling) bool { return t.machine("cp-2").kubelet.away }, member("cp-3", false)}, {at(12), member("cp-3", true)}},
	},
	{
		name: "server-not-ready", tells: "An API server is not ready at its own address when the next control plane node would go.",
		scene: minor(shape(3, 0)), ends: Succeeded,
		script: []turn{{at(0), server("cp-1", false)}, {at(10), server("cp-1", true)}},
	},
	{
		name: "server-not-ready-in-drain", tells: "An API server stops being ready while cp-2 is drained.",
		scene: minor(shape(3, 0)), ends: Succeeded,
		script: []turn{{cordoned("cp-2"), server("cp-3", false)}, {at(10), server("cp-3", true)}},
	},
	{
		name: "server-not-ready-after", tells: "An API server stops being ready while cp-2 is changed. cp-2 is not done before it is ready again.",
		scene: minor(shape(3, 0)), ends: Succeeded,
		script: []turn{{func(t *telling) bool { return t.machine("cp-2").kubelet.away }, server("cp-3", false)}, {at(12), server("cp-3", true)}},
	},
	{
		name: "pods-cut", tells: "Pods on cp-2 reach nothing since it was changed. It stays cordoned and no other node goes, until a Pod of ours finds the API from there.",
		scene: minor(shape(3, 0)), ends: Succeeded,
		script: []turn{{func(t *telling) bool { return t.machine("cp-2").kubelet.away }, cut("cp-2")}, {at(12), connected("cp-2")}},
	},
	{
		name: "pods-cut-single-node", tells: "The same on the only node of a cluster, where nothing is cordoned.",
		scene: minor(shape(1, 0)), ends: Succeeded,
		script: []turn{{applying("cp-1"), cut("cp-1")}, {at(12), connected("cp-1")}},
	},
	{
		name: "pods-cut-abort", tells: "Pods on cp-2 reach nothing, and a person ends the operation. Our cordon is lifted all the same.",
		scene: minor(shape(3, 0)), ends: Aborted,
		script: []turn{{func(t *telling) bool { return t.machine("cp-2").kubelet.away }, cut("cp-2")}, {at(12), func(t *telling) { t.abort() }}},
	},
	{
		name: "trial-does-not-end", tells: "Nobody carries the trial of cp-2 out. After a while a person is told.",
		scene: minor(shape(3, 0)), ends: Succeeded,
		script: []turn{
			{applying("cp-2"), func(t *telling) { t.machine("cp-2").trial.hangs = true }},
			{at(12), func(t *telling) { t.machine("cp-2").trial.hangs = false }},
		},
	},
	{
		name: "two-members-not-waived", tells: "Two etcd members, and nobody has said yes to the outage. Nothing goes; a person ends it.",
		scene: minor(shape(2, 0)), ends: Aborted,
		script: []turn{{at(15), func(t *telling) { t.abort() }}},
	},
	{
		name: "server-too-old", tells: "cp-3 is set up anew with a version that is older than the plan begins with. API servers may not be two minor versions apart.",
		scene: minor(shape(3, 0)), ends: Succeeded,
		script: []turn{{at(0.2), reinstalled("cp-3", "v1.34.4")}, {later(5, is(Stalled)), byHand("cp-3", "v1.35.4")}},
	},
	{
		name: "server-reinstalled", tells: "Before the second hop cp-3 is set up anew with the version that it had at the start. It goes through the first hop again before the others go on.",
		scene: minor(shape(3, 0), road("v1.35.4", "v1.37.1", "v1.36.3", "v1.37.1")), ends: Succeeded,
		script: []turn{{func(t *telling) bool {
			return t.machine("cp-2").upgrade != nil && t.machine("cp-2").upgrade.Spec.Release.Name == "kubernetes-v1.37.1"
		}, reinstalled("cp-3", "v1.35.4")}},
	},
	{
		name: "address-moves", tells: "The API endpoint's address moves to cp-2 while cp-2 is drained. cp-1 would be next now, and waits: one at a time.",
		scene: minor(shape(3, 1), pods(load{"cart", 4, 0, true})), ends: Succeeded,
		script: []turn{
			{cordoned("cp-2"), func(t *telling) { t.tell("! the endpoint's address moves to cp-2"); t.vip = "cp-2" }},
			{later(2, draining("cp-2")), func(t *telling) { t.relax() }},
		},
	},
	{
		name: "five-members", tells: "One of five etcd members does not answer. There would still be a quorum with another one away, and Refit waits all the same.",
		scene: minor(shape(5, 0)), ends: Succeeded,
		script: []turn{{at(0), member("cp-4", false)}, {at(10), member("cp-4", true)}},
	},
	{
		name: "five-members-in-drain", tells: "The same while cp-2 is drained.",
		scene: minor(shape(5, 0)), ends: Succeeded,
		script: []turn{{cordoned("cp-2"), member("cp-4", false)}, {at(10), member("cp-4", true)}},
	},
	{
		name: "server-too-old-in-drain", tells: "The same while cp-2 is drained for the second hop.",
		scene: minor(shape(3, 0), road("v1.35.4", "v1.37.1", "v1.36.3", "v1.37.1")), ends: Succeeded,
		script: []turn{
			{func(t *telling) bool {
				return cordoned("cp-2")(t) && t.machine("cp-2").upgrade.Spec.Release.Name == "kubernetes-v1.37.1"
			}, reinstalled("cp-3", "v1.35.4")},
			{later(5, is(Stalled)), byHand("cp-3", "v1.36.3")},
		},
	},
	{
		name: "kubelet-would-be-newer", tells: "Workers follow their control plane. One of its nodes is set up anew with an older version: no kubelet may be newer than an API server.",
		scene: minor(shape(3, 2), road("v1.36.3", "v1.36.3", "v1.36.3"), func(sc *scene) { sc.workersAt = "v1.35.4" }, spec(workersOnly)), ends: Succeeded,
		script: []turn{{at(0.2), reinstalled("cp-2", "v1.35.4")}, {later(5, is(Stalled)), byHand("cp-2", "v1.36.3")}},
	},
	{
		name: "kubelet-would-be-newer-in-drain", tells: "The same while worker-1 is drained.",
		scene: minor(shape(3, 2), road("v1.36.3", "v1.36.3", "v1.36.3"), func(sc *scene) { sc.workersAt = "v1.35.4" }, spec(workersOnly)), ends: Succeeded,
		script: []turn{{cordoned("worker-1"), reinstalled("cp-3", "v1.35.4")}, {later(5, is(Stalled)), byHand("cp-3", "v1.36.3")}},
	},
	{
		name: "claimed-by-hand", tells: "Somebody has written two control plane nodes into status.active. The second is given back before the first is changed.",
		scene: minor(shape(3, 0), road("v1.36.1", "v1.36.3", "v1.36.3")), ends: Succeeded,
		script: []turn{{at(2.1), claimedByHand("cp-2", "cp-1")}},
	},
	{
		name: "claimed-by-hand-without-quorum", tells: "Somebody has claimed a node of two etcd members by hand, and nobody has said yes to the outage.",
		scene: minor(shape(2, 0)), ends: Aborted,
		script: []turn{{at(0.2), claimedByHand("cp-1")}, {at(10), func(t *telling) { t.abort() }}},
	},
}

func claimedByHand(names ...string) func(*telling) {
	return func(t *telling) {
		t.tell("* somebody writes %v into status.active", names)
		t.op.Active = names
		t.op.version++
	}
}
