package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// podStories are about drains that are blocked, and cordons.
var podStories = []story{
	{
		name:     "shared-budget",
		summary:  "worker-1 and worker-2 both have pods of a budget that allows one disruption. Two slots are free and one is used: two drains would block each other.",
		scenario: minor(shape(1, 3), atOnce(2), pods(load{"cart", 3, 1, false})), ends: Succeeded,
	},
	{
		name:     "blocked-wait",
		summary:  "A budget allows no eviction, and onBlocked is Wait: Refit reports what blocks the drain, and continues once the budget allows it.",
		scenario: minor(shape(1, 2), pods(load{"cart", 2, 0, false})), ends: Succeeded,
		script: []scriptEvent{{later(10, is(Stalled)), func(t *storyRun) { t.relaxBudgets() }}},
	},
	{
		name:     "blocked-skip",
		summary:  "A budget allows no eviction, and onBlocked is Skip: the node is skipped, the others are upgraded, and then manual intervention is required.",
		scenario: minor(shape(1, 3), pods(load{"cart", 1, 0, false}), drains(5*time.Minute, refitv1alpha1.OnBlockedSkip)), ends: Succeeded,
		script: []scriptEvent{{later(5, is(Stalled)), func(t *storyRun) { t.relaxBudgets(); t.retry() }}},
	},
	{
		name:     "blocked-skip-control-plane",
		summary:  "The same on a control plane node: it is skipped, and the workers wait, since a kubelet may not be newer than an API server.",
		scenario: minor(shape(3, 1), pods(load{"cart", 4, 0, true}), drains(5*time.Minute, refitv1alpha1.OnBlockedSkip)), ends: Succeeded,
		script: []scriptEvent{{later(5, is(Stalled)), func(t *storyRun) { t.relaxBudgets(); t.retry() }}},
	},
	{
		name:     "blocked-fail",
		summary:  "A budget allows no eviction, and onBlocked is Fail: the node is uncordoned, and the operation stalls.",
		scenario: minor(shape(1, 2), pods(load{"cart", 2, 0, false}), drains(5*time.Minute, refitv1alpha1.OnBlockedFail)), ends: Succeeded,
		script: []scriptEvent{{later(5, is(Stalled)), func(t *storyRun) { t.relaxBudgets(); t.retry() }}},
	},
	{
		name:     "blocked-delete",
		summary:  "A budget allows no eviction, and onBlocked is Delete: after three minutes the pods are deleted against their budget.",
		scenario: minor(shape(1, 2), pods(load{"cart", 2, 0, false}), drains(3*time.Minute, refitv1alpha1.OnBlockedDelete)), ends: Succeeded,
	},
	{
		name:     "uncordoned-by-hand",
		summary:  "The user uncordons a node while it is drained. Refit cordons it again, and evicts the pods that were scheduled meanwhile.",
		scenario: minor(shape(1, 2), pods(load{"cart", 4, 1, false})), ends: Succeeded,
		script: []scriptEvent{{draining("worker-1"), func(t *storyRun) { t.uncordonByHand(t.machine("worker-1")) }}},
	},
	{
		name:     "cordoned-by-hand",
		summary:  "The user has cordoned worker-2. It counts against maxUnavailable, so it is upgraded first, and it stays cordoned.",
		scenario: minor(shape(1, 3), pods(load{"cart", 2, 1, false})), ends: Succeeded,
		before: func(w *world) { w.machine("worker-2").cordoned, w.machine("worker-2").cordonedByUser = true, true },
		script: []scriptEvent{{later(20, claimed("worker-2")), func(t *storyRun) { t.uncordonByHand(t.machine("worker-2")) }}},
	},
	{
		name:     "blocked-delete-stuck",
		summary:  "The drain of worker-1 is blocked, and onBlocked is Delete: a finalizer keeps the pods. The operation stalls with the blockers until the user removes it.",
		scenario: minor(shape(1, 2), pods(load{"cart", 4, 1, false}), drains(5*time.Minute, refitv1alpha1.OnBlockedDelete)), ends: Succeeded,
		script: []scriptEvent{
			{claimed("worker-1"), func(t *storyRun) {
				t.note("! a finalizer keeps the pods of shop/cart")
				t.workloads[0].stuck = true
			}},
			{later(5, is(Stalled)), func(t *storyRun) { t.relaxBudgets() }},
		},
	},
}
