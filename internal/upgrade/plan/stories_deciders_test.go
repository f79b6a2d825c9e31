package plan

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// deciderStories are about those who decide.
var deciderStories = []story{
	{
		name: "leader-dies", tells: "The leader dies while worker-1 is drained. Another one, which remembers nothing, goes on where it was.",
		scene: minor(shape(1, 2), pods(load{"cart", 4, 0, false})), ends: Succeeded,
		script: []turn{
			{later(2, draining("worker-1")), func(t *telling) {
				t.tell("! the leader dies, and another one takes over")
				t.leader = t.takeOver("Refit")
			}},
			{later(4, draining("worker-1")), func(t *telling) { t.relax() }},
		},
	},
	{
		name: "deposed-leader", tells: "A leader is stopped for a minute and does not know that another one has taken over. What it decided on its old view is refused by the fences.",
		scene: minor(shape(1, 3)), ends: Succeeded,
		script: []turn{
			{func(t *telling) bool { return upgraded("cp-1")(t) && len(t.op.Active) == 0 }, func(t *telling) {
				t.tell("! the leader is stopped, and another one takes over")
				old := *t.leader
				old.name, old.view, old.fresh = "the old leader", t.see(), false
				t.old, t.leader = &old, t.takeOver("Refit")
			}},
			{later(1, claimed("worker-1")), func(t *telling) {
				t.tell("! the old leader wakes up")
				t.decide(t.old)
			}},
		},
	},
	{
		name: "stray-cordon", tells: "A leader is stopped just before it would cordon worker-1. Meanwhile a person pauses and worker-1 is given back. The old leader's cordon is lifted again.",
		scene: minor(shape(1, 2)), ends: Succeeded,
		script: deposedOverAPause(),
	},
	{
		name: "claims-wiped", tells: "Somebody empties status.active while cp-3 is being changed, and the endpoint's address has moved to it. cp-1 would be next, and waits: a claim that is lost does not stop an agent.",
		scene: minor(shape(3, 0)), ends: Succeeded,
		script: []turn{{func(t *telling) bool {
			return t.machine("cp-3").upgrade != nil && t.machine("cp-3").upgrade.Spec.Permit == refitv1alpha1.PermitApply
		}, func(t *telling) {
			t.tell("! the endpoint's address moves to cp-3")
			t.vip = "cp-3"
			claimedByHand()(t)
		}}},
	},
	{
		name: "deposed-leader-after-pause", tells: "A leader is stopped just before it would order the change of worker-1. Meanwhile a person pauses and worker-1 is given back: the order is refused.",
		scene: minor(shape(1, 2), road("v1.36.1", "v1.36.3", "v1.36.3")), ends: Succeeded,
		script: deposedOverAPause(),
	},
}

// deposedOverAPause stops a leader with worker-1 claimed, and wakes it up while the operation is paused under another one. Turns count for themselves,
// so each story has its own.
func deposedOverAPause() []turn {
	return []turn{
		{claimed("worker-1"), func(t *telling) {
			t.tell("! the leader is stopped, and another one takes over")
			old := *t.leader
			old.name, old.view, old.fresh = "the old leader", t.see(), false
			t.old, t.leader = &old, t.takeOver("Refit")
			t.edit(pause, "a person pauses")
		}},
		{later(2, is(Paused)), func(t *telling) {
			t.tell("! the old leader wakes up")
			t.decide(t.old)
		}},
		{later(10, is(Paused)), asks(resume, "a person resumes")},
	}
}
