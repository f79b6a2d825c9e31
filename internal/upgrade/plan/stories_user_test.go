package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// userStories are about what the user requests.
var userStories = []story{
	{
		name:     "approval",
		summary:  "The plan needs approval, and nothing starts before.",
		scenario: minor(shape(1, 1), spec(approval)), ends: Succeeded,
		script: []scriptEvent{{at(5), func(t *storyRun) { t.approve() }}},
	},
	{
		name:     "pause",
		summary:  "The user pauses while worker-1 is drained: the node is released unchanged. After an hour its drain starts over, with its whole timeout.",
		scenario: minor(shape(1, 2), pods(load{"cart", 4, 0, false}), drains(5*time.Minute, refitv1alpha1.OnBlockedSkip)), ends: Succeeded,
		script: []scriptEvent{
			{later(2, draining("worker-1")), edits(pause, "the user pauses")},
			{later(62, draining("worker-1")), edits(resume, "the user resumes")},
			{later(66, draining("worker-1")), func(t *storyRun) { t.relaxBudgets() }},
		},
	},
	{
		name:     "pause-while-upgrading",
		summary:  "The user pauses while the host of worker-1 is upgraded: the agent finishes, and nothing new starts.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{{applying("worker-1"), edits(pause, "the user pauses")}, {at(20), edits(resume, "the user resumes")}},
	},
	{
		name: "pause-before-the-change",
		summary: "The user pauses when worker-1 is drained and its agent has the order, but has changed nothing yet. " +
			"The order is withdrawn, and the node is released unchanged.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		script: []scriptEvent{{ordered("worker-1"), edits(pause, "the user pauses")}, {later(20, ordered("worker-1")), edits(resume, "the user resumes")}},
	},
	{
		name:     "abort",
		summary:  "The user aborts while worker-2 is upgraded and worker-1 is done. worker-2 finishes, and the rest stays as it is.",
		scenario: minor(shape(1, 3)), ends: Aborted,
		script: []scriptEvent{{applying("worker-2"), func(t *storyRun) { t.abort() }}},
	},
	{
		name:     "preflight-blocks",
		summary:  "A preflight finding blocks the approved upgrade, until the user fixes its cause.",
		scenario: minor(shape(1, 1)), ends: Succeeded,
		before: func(w *world) {
			w.blocking = &Blocking{Check: "DiskTooSmall", Message: "/var on worker-1 has 200 MiB free", Remedy: "Free disk space on worker-1"}
		},
		script: []scriptEvent{{at(10), func(t *storyRun) {
			t.note("! the user frees disk space on worker-1")
			t.blocking = nil
		}}},
	},
	{
		name:     "older-operation",
		summary:  "Another, older operation has not ended.",
		scenario: minor(shape(1, 1)), ends: Succeeded,
		before: func(w *world) { w.older = "upgrade-of-last-week" },
		script: []scriptEvent{{at(10), func(t *storyRun) { olderEnds(t.world) }}},
	},
	{
		name:     "release-missing",
		summary:  "The cluster has no ClusterRelease of the target. The user creates one, which changes the plan: the old one named no digest.",
		scenario: minor(shape(1, 1), func(sc *scenario) { sc.releases = nil }), ends: Succeeded,
		script: []scriptEvent{{at(3), func(t *storyRun) { t.release("v1.36.3") }}, {at(6), func(t *storyRun) { t.approve() }}},
	},
	{
		name:     "release-deleted",
		summary:  "The ClusterRelease that the target names is deleted while worker-1 is upgraded. The host finishes, and nothing new starts until the ClusterRelease exists again.",
		scenario: minor(shape(1, 2), spec(byRelease)), ends: Succeeded,
		script: []scriptEvent{
			{applying("worker-1"), func(t *storyRun) { t.deleteRelease() }},
			{later(5, is(Stalled)), func(t *storyRun) { t.restoreRelease() }},
		},
	},
	{
		name:     "release-deleted-abort",
		summary:  "The ClusterRelease is deleted, the upgrade of worker-1 fails with rollback Manual, and the user aborts: the host is rolled back and released.",
		scenario: minor(shape(1, 2), spec(byRelease), spec(manual)), ends: Aborted,
		script: []scriptEvent{
			{applying("worker-1"), func(t *storyRun) { t.deleteRelease(); failsNextStep("worker-1")(t) }},
			{later(5, is(Stalled)), func(t *storyRun) { t.abort() }},
		},
	},
	{
		name:     "plan-changes",
		summary:  "A control plane node joins during the upgrade. That is not what was approved, so nothing new starts until the changed plan is approved.",
		scenario: minor(shape(3, 1), spec(approval)), ends: Succeeded,
		script: []scriptEvent{
			{at(0), func(t *storyRun) { t.approve() }},
			{upgraded("cp-2"), func(t *storyRun) {
				t.note("! cp-4 joins the control plane at v1.35.4")
				t.join("cp-4", true, "v1.35.4", map[string]string{})
			}},
			{at(20), func(t *storyRun) { t.approve() }},
		},
	},
}
