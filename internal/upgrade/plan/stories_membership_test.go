package plan

// membershipStories are about nodes that join and leave.
var membershipStories = []story{
	{
		name:     "worker-joins-without-agent",
		summary:  "A worker joins at the old version, and no agent starts on it. The operation ends without it and names it.",
		scenario: minor(shape(1, 1)), ends: Succeeded,
		script: []scriptEvent{{claimed("worker-1"), func(t *storyRun) {
			t.note("! worker-9 joins at v1.35.4, without an agent")
			m := t.join("worker-9", false, "v1.35.4", map[string]string{"zone": "a"})
			m.report, m.agent.absent = nil, true
		}}},
	},
	{
		name:     "worker-joins",
		summary:  "A worker joins at the old version, at first without an agent. Other workers are upgraded meanwhile.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{
			{claimed("worker-1"), func(t *storyRun) {
				t.note("! worker-9 joins at v1.35.4, without an agent")
				m := t.join("worker-9", false, "v1.35.4", map[string]string{"zone": "a"})
				m.report, m.agent.absent = nil, true
			}},
			{at(6), func(t *storyRun) { t.fixHost(t.machine("worker-9")) }},
		},
	},
	{
		name:     "worker-joins-not-ready",
		summary:  "A worker joins at the new version and is not ready until its network is. It never ran a pod, so it uses no slot, and the others continue.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{
			{claimed("worker-1"), func(t *storyRun) {
				t.note("! worker-9 joins at v1.36.3, and is not ready")
				t.join("worker-9", false, "v1.36.3", map[string]string{"zone": "a"}).kubelet.unhealthy = true
				t.machine("worker-9").ready = false
			}},
			{at(9), func(t *storyRun) { t.fixHost(t.machine("worker-9")) }},
		},
	},
	{
		name:     "worker-joins-late",
		summary:  "During the upgrade of the control plane a worker joins whose version is too old. It catches up, but not while a control plane node is active.",
		scenario: minor(shape(3, 1), upgradePath("v1.36.3", "v1.37.1", "v1.36.3", "v1.37.1"), func(sc *scenario) { sc.workersAt = "v1.33.2" }), ends: Succeeded,
		script: []scriptEvent{{
			claimed("cp-2"),
			func(t *storyRun) {
				t.note("! worker-9 joins at v1.35.4")
				t.join("worker-9", false, "v1.35.4", map[string]string{"zone": "a"})
			},
		}},
	},
	{
		name:     "worker-too-old",
		summary:  "While cp-2 is drained a worker joins that is too old for API servers of the next version. The user removes it.",
		scenario: minor(shape(3, 1), upgradePath("v1.36.1", "v1.37.1", "v1.37.1")), ends: Succeeded,
		script: []scriptEvent{
			{cordoned("cp-2"), func(t *storyRun) {
				t.note("! worker-9 joins at v1.33.2")
				t.join("worker-9", false, "v1.33.2", map[string]string{"zone": "a"})
			}},
			{later(5, is(Stalled)), func(t *storyRun) { t.fixSkew(t.machine("worker-9")) }},
		},
	},
	{
		name:     "worker-too-old-before",
		summary:  "The same before any control plane node is claimed.",
		scenario: minor(shape(3, 1), upgradePath("v1.36.1", "v1.37.1", "v1.37.1")), ends: Succeeded,
		script: []scriptEvent{
			{at(0.2), func(t *storyRun) {
				t.note("! worker-9 joins at v1.33.2")
				t.join("worker-9", false, "v1.33.2", map[string]string{"zone": "a"})
			}},
			{later(5, is(Stalled)), func(t *storyRun) { t.fixSkew(t.machine("worker-9")) }},
		},
	},
	{
		name:     "node-removed",
		summary:  "worker-1 is removed from the cluster during its upgrade. A removed node is not done: its slot is free, and it is not counted.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{{applying("worker-1"), func(t *storyRun) {
			t.note("! worker-1 is removed")
			t.leave(t.machine("worker-1"))
		}}},
	},
	{
		name:     "node-reinstalled",
		summary:  "worker-1 is reinstalled under its name while it is drained. It is another machine, and does not accept the order to the old one.",
		scenario: minor(shape(1, 2), pods(load{"cart", 2, 1, false})), ends: Succeeded,
		script: []scriptEvent{{draining("worker-1"), func(t *storyRun) {
			t.note("! worker-1 is reinstalled at v1.35.4")
			old := t.machine("worker-1")
			t.leave(old)
			node := t.join("worker-1", false, "v1.35.4", old.labels)
			node.upgrade, node.upgradeVersion = old.upgrade, old.upgradeVersion
			node.report = old.report
		}}},
	},
	{
		name:     "another-machine",
		summary:  "A clone of worker-1 starts and reports under its name. No order is written until the machine is known.",
		scenario: minor(shape(1, 1)), ends: Succeeded,
		script: []scriptEvent{{draining("worker-1"), func(t *storyRun) {
			t.note("! a clone of worker-1 reports in its place")
			m := t.machine("worker-1")
			clone := *m.report
			clone.NodeUID, clone.MachineID = "clone-uid", "c10e0000000000000000000000000000"
			m.report, m.agent.absent = &clone, true
		}}, {at(25), func(t *storyRun) { t.fixHost(t.machine("worker-1")) }}},
	},
}
