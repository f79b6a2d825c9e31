package plan

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
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
