package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// peopleStories are about people who say what they want.
var peopleStories = []story{
	{
		name: "approval", tells: "The plan needs approval, and nothing is done before.",
		scene: minor(shape(1, 1), spec(approval)), ends: Succeeded,
		script: []turn{{at(5), func(t *telling) { t.approve() }}},
	},
	{
		name: "pause", tells: "A person pauses while worker-1 is being drained: it is given back as it is. After an hour it begins anew, with all of its time.",
		scene: minor(shape(1, 2), pods(load{"cart", 4, 0, false}), drains(5*time.Minute, refitv1alpha1.OnBlockedSkip)), ends: Succeeded,
		script: []turn{
			{later(2, draining("worker-1")), asks(pause, "a person pauses")},
			{later(62, draining("worker-1")), asks(resume, "a person resumes")},
			{later(66, draining("worker-1")), func(t *telling) { t.relax() }},
		},
	},
	{
		name: "pause-on-host", tells: "A person pauses while the host of worker-1 is being changed: that comes to its end, and nothing new begins.",
		scene: minor(shape(1, 2)), ends: Succeeded,
		script: []turn{{applying("worker-1"), asks(pause, "a person pauses")}, {at(20), asks(resume, "a person resumes")}},
	},
	{
		name: "abort", tells: "A person aborts while worker-2 is being changed and worker-1 is done. worker-2 comes to its end; the rest stays as it is.",
		scene: minor(shape(1, 3)), ends: Aborted,
		script: []turn{{applying("worker-2"), func(t *telling) { t.abort() }}},
	},
	{
		name: "older-operation", tells: "Another operation, older than this one, has not ended.",
		scene: minor(shape(1, 1)), ends: Succeeded,
		before: func(w *world) { w.older = "upgrade-of-last-week" },
		script: []turn{{at(10), func(t *telling) { olderEnds(t.world) }}},
	},
	{
		name: "release-missing", tells: "There is no ClusterRelease of the target yet. A person makes one, which is another plan: the old one named no digest.",
		scene: minor(shape(1, 1), func(sc *scene) { sc.releases = nil }), ends: Succeeded,
		script: []turn{{at(3), func(t *telling) { t.release("v1.36.3") }}, {at(6), func(t *telling) { t.approve() }}},
	},
	{
		name: "plan-changes", tells: "A control plane node is added on the way. That is not what was approved, so nothing new begins until somebody has said yes to the new plan.",
		scene: minor(shape(3, 1), spec(approval)), ends: Succeeded,
		script: []turn{
			{at(0), func(t *telling) { t.approve() }},
			{upgraded("cp-2"), func(t *telling) {
				t.tell("! cp-4 joins the control plane at v1.35.4")
				t.join("cp-4", true, "v1.35.4", map[string]string{})
			}},
			{at(20), func(t *telling) { t.approve() }},
		},
	},
}
