package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// podStories are about pods that do not go, and cordons.
var podStories = []story{
	{
		name: "shared-budget", tells: "worker-1 and worker-2 both have pods of a budget that lets one be away. Two could go at once, and do not: each would hold the other half empty.",
		scene: minor(shape(1, 3), atOnce(2), pods(load{"cart", 3, 1, false})), ends: Succeeded,
	},
	{
		name: "blocked-wait", tells: "A budget that allows nothing. The policy is Wait: Refit says that it is stalled and by what, and goes on when a person has made room.",
		scene: minor(shape(1, 2), pods(load{"cart", 2, 0, false})), ends: Succeeded,
		script: []turn{{later(10, is(Stalled)), func(t *telling) { t.relax() }}},
	},
	{
		name: "blocked-skip", tells: "A budget that allows nothing. The policy is Skip: the node is left for later, the others go, and in the end a person is asked.",
		scene: minor(shape(1, 3), pods(load{"cart", 1, 0, false}), drains(5*time.Minute, refitv1alpha1.OnBlockedSkip)), ends: Succeeded,
		script: []turn{{later(5, is(Stalled)), func(t *telling) { t.relax(); t.retry() }}},
	},
	{
		name: "blocked-skip-control-plane", tells: "The same on a control plane node: it is left for later, and the workers wait, since a kubelet may not be newer than an API server.",
		scene: minor(shape(3, 1), pods(load{"cart", 4, 0, true}), drains(5*time.Minute, refitv1alpha1.OnBlockedSkip)), ends: Succeeded,
		script: []turn{{later(5, is(Stalled)), func(t *telling) { t.relax(); t.retry() }}},
	},
	{
		name: "blocked-fail", tells: "A budget that allows nothing. The policy is Fail: the node is uncordoned and the operation stops.",
		scene: minor(shape(1, 2), pods(load{"cart", 2, 0, false}), drains(5*time.Minute, refitv1alpha1.OnBlockedFail)), ends: Succeeded,
		script: []turn{{later(5, is(Stalled)), func(t *telling) { t.relax(); t.retry() }}},
	},
	{
		name: "blocked-delete", tells: "A budget that allows nothing. The policy is Delete: after three minutes the pods are deleted against their budget.",
		scene: minor(shape(1, 2), pods(load{"cart", 2, 0, false}), drains(3*time.Minute, refitv1alpha1.OnBlockedDelete)), ends: Succeeded,
	},
	{
		name: "uncordoned-by-hand", tells: "Somebody uncordons a node while it is drained. Refit cordons it again, and moves what has come back.",
		scene: minor(shape(1, 2), pods(load{"cart", 4, 1, false})), ends: Succeeded,
		script: []turn{{draining("worker-1"), func(t *telling) { t.uncordonByHand(t.machine("worker-1")) }}},
	},
	{
		name: "cordoned-by-hand", tells: "Somebody has cordoned worker-2. It uses up what may be unavailable, so it goes first, and the cordon stays.",
		scene: minor(shape(1, 3), pods(load{"cart", 2, 1, false})), ends: Succeeded,
		before: func(w *world) { w.machine("worker-2").cordoned, w.machine("worker-2").byHand = true, true },
		script: []turn{{later(20, claimed("worker-2")), func(t *telling) { t.uncordonByHand(t.machine("worker-2")) }}},
	},
}
