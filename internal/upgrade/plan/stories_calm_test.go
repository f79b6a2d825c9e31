package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// calmStories are those in which nothing goes wrong.
var calmStories = []story{
	{
		name: "ha-minor", tells: "A highly available cluster goes one minor version up, and nothing goes wrong.",
		scene: minor(shape(3, 3), pods(load{"cart", 3, 1, false})), ends: Succeeded,
	},
	{
		name: "single-node", tells: "The only node of a cluster is control plane and worker. There is nowhere to drain to, and the API is away for a while.",
		scene: minor(shape(1, 0), pods(load{"cart", 2, 1, true})), ends: Succeeded,
	},
	{
		name: "three-hops", tells: "Three minor versions: the control plane goes through each of them, the workers go once at the end.",
		scene: minor(shape(1, 2), road("v1.34.4", "v1.37.1", "v1.35.4", "v1.36.3", "v1.37.1")), ends: Succeeded,
	},
	{
		name: "two-passes", tells: "Four minor versions are more than a kubelet may lag behind, so the workers go twice.",
		scene: minor(shape(1, 2), road("v1.33.2", "v1.37.1", "v1.34.4", "v1.35.4", "v1.36.3", "v1.37.1")), ends: Succeeded,
	},
	{
		name: "catching-up", tells: "The workers were left behind so far that the control plane cannot move before they have caught up with it.",
		scene: minor(shape(1, 2), road("v1.36.3", "v1.37.1", "v1.36.3", "v1.37.1"), func(sc *scene) { sc.workersAt = "v1.33.2" }), ends: Succeeded,
	},
	{
		name: "patch", tells: "A patch release: kubelets restart, pods stay where they are.",
		scene: minor(road("v1.36.1", "v1.36.3", "v1.36.3"), pods(load{"cart", 3, 0, false})), ends: Succeeded,
	},
	{
		name: "address-last", tells: "cp-2 holds the API endpoint's address: it goes last.",
		scene: minor(shape(3, 0)), before: func(w *world) { w.vip = "cp-2" }, ends: Succeeded,
	},
	{
		name: "canary", tells: "One node of the pool goes ahead. The others follow when it has been healthy for ten minutes.",
		scene: minor(shape(1, 4), canaries(1, 10*time.Minute), atOnce(2)), ends: Succeeded,
	},
	{
		name: "sliding-window", tells: "Six workers in two zones, two at a time: as soon as one is done the next begins, and zone b waits until zone a is done.",
		scene: minor(shape(1, 6), zones(2), atOnce(2)), ends: Succeeded,
	},
	{
		name: "two-members", tells: "Two etcd members: both are needed for a quorum, so etcd is away while one is changed. A person has said yes to that.",
		scene: minor(shape(2, 0), spec(func(s *refitv1alpha1.ClusterUpgradeSpec) {
			s.Waivers = []refitv1alpha1.Waiver{{Check: policy.CheckTwoMembers, Reason: "the outage is announced"}}
		})), ends: Succeeded,
	},
	{
		name: "external-etcd", tells: "etcd is external: Refit does not touch it, and asks nothing of it.",
		scene: minor(shape(2, 1), func(sc *scene) { sc.external = true }), ends: Succeeded,
	},
	{
		name: "workers-later", tells: "The control plane was upgraded last month. Now the workers follow.",
		scene: minor(road("v1.36.3", "v1.36.3", "v1.36.3"), func(sc *scene) { sc.workersAt = "v1.35.4" }, spec(workersOnly)), ends: Succeeded,
	},
	{
		name: "control-plane-only", tells: "Only the control plane is asked for. The workers stay, which the skew policy allows.",
		scene: minor(shape(3, 1), spec(controlPlane)), ends: Succeeded,
	},
}
