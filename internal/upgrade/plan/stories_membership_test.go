package plan

// membershipStories are about nodes that come and go.
var membershipStories = []story{
	{
		name: "worker-joins", tells: "A worker joins at the old version, at first without an agent.",
		scene: minor(shape(1, 1)), ends: Succeeded,
		script: []turn{
			{claimed("worker-1"), func(t *telling) {
				t.tell("! worker-9 joins at v1.35.4, without an agent")
				m := t.join("worker-9", false, "v1.35.4", map[string]string{"zone": "a"})
				m.report, m.agent.absent = nil, true
			}},
			{at(30), func(t *telling) { t.mendHost(t.machine("worker-9")) }},
		},
	},
	{
		name: "worker-joins-late", tells: "While the control plane moves on a worker joins that is at an older version than the others have reached. It catches up, and not while a control plane node is at work.",
		scene: minor(shape(3, 1), road("v1.36.3", "v1.37.1", "v1.36.3", "v1.37.1"), func(sc *scene) { sc.workersAt = "v1.33.2" }), ends: Succeeded,
		script: []turn{{
			claimed("cp-2"),
			func(t *telling) {
				t.tell("! worker-9 joins at v1.35.4")
				t.join("worker-9", false, "v1.35.4", map[string]string{"zone": "a"})
			},
		}},
	},
	{
		name: "worker-too-old", tells: "While cp-2 is drained a worker joins that API servers of the next version would not accept any more. A person removes it.",
		scene: minor(shape(3, 1), road("v1.36.1", "v1.37.1", "v1.37.1")), ends: Succeeded,
		script: []turn{
			{cordoned("cp-2"), func(t *telling) {
				t.tell("! worker-9 joins at v1.33.2")
				t.join("worker-9", false, "v1.33.2", map[string]string{"zone": "a"})
			}},
			{later(5, is(Stalled)), func(t *telling) { t.mendSkew(t.machine("worker-9")) }},
		},
	},
	{
		name: "worker-too-old-before", tells: "The same before any control plane node is claimed.",
		scene: minor(shape(3, 1), road("v1.36.1", "v1.37.1", "v1.37.1")), ends: Succeeded,
		script: []turn{
			{at(0.2), func(t *telling) {
				t.tell("! worker-9 joins at v1.33.2")
				t.join("worker-9", false, "v1.33.2", map[string]string{"zone": "a"})
			}},
			{later(5, is(Stalled)), func(t *telling) { t.mendSkew(t.machine("worker-9")) }},
		},
	},
	{
		name: "node-vanishes", tells: "worker-1 is taken out of the cluster while it is being changed. Gone is not done: its slot is free, and it is not counted.",
		scene: minor(shape(1, 2)), ends: Succeeded,
		script: []turn{{applying("worker-1"), func(t *telling) {
			t.tell("! worker-1 vanishes")
			t.leave(t.machine("worker-1"))
		}}},
	},
	{
		name: "node-reinstalled", tells: "worker-1 is reinstalled under its name while it is drained. It is another machine: the order to the old one is not for it.",
		scene: minor(shape(1, 2), pods(load{"cart", 2, 1, false})), ends: Succeeded,
		script: []turn{{draining("worker-1"), func(t *telling) {
			t.tell("! worker-1 is reinstalled at v1.35.4")
			old := t.machine("worker-1")
			t.leave(old)
			anew := t.join("worker-1", false, "v1.35.4", old.labels)
			anew.upgrade, anew.upgradeVersion = old.upgrade, old.upgradeVersion
			anew.report = old.report
		}}},
	},
	{
		name: "another-machine", tells: "A clone of worker-1 starts and reports under its name. Nobody is ordered to do anything before it is clear which machine is meant.",
		scene: minor(shape(1, 1)), ends: Succeeded,
		script: []turn{{draining("worker-1"), func(t *telling) {
			t.tell("! a clone of worker-1 reports in its place")
			m := t.machine("worker-1")
			clone := *m.report
			clone.NodeUID, clone.MachineID = "clone-uid", "c10e0000000000000000000000000000"
			m.report, m.agent.absent = &clone, true
		}}, {at(25), func(t *telling) { t.mendHost(t.machine("worker-1")) }}},
	},
}
