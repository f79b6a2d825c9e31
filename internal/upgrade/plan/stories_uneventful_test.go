package plan

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// uneventfulStories are about upgrades in which nothing goes wrong.
var uneventfulStories = []story{
	{
		name:     "ha-minor",
		summary:  "A highly available cluster is upgraded by one minor version, and nothing goes wrong.",
		scenario: minor(shape(3, 3), pods(load{"cart", 3, 1, false})), ends: Succeeded,
	},
	{
		name:     "single-node",
		summary:  "The only node of a cluster is both control plane and worker. It is not drained, and the API is unavailable for a while.",
		scenario: minor(shape(1, 0), pods(load{"cart", 2, 1, true})), ends: Succeeded,
	},
	{
		name:     "three-hops",
		summary:  "Three minor versions: the control plane is upgraded in three hops, the workers once at the end.",
		scenario: minor(shape(1, 2), upgradePath("v1.34.4", "v1.37.1", "v1.35.4", "v1.36.3", "v1.37.1")), ends: Succeeded,
	},
	{
		name:     "two-passes",
		summary:  "Four minor versions are more than a kubelet may lag behind, so the workers are upgraded twice.",
		scenario: minor(shape(1, 2), upgradePath("v1.33.2", "v1.37.1", "v1.34.4", "v1.35.4", "v1.36.3", "v1.37.1")), ends: Succeeded,
	},
	{
		name:     "catching-up",
		summary:  "The workers are so old that they have to catch up before the control plane can be upgraded.",
		scenario: minor(shape(1, 2), upgradePath("v1.36.3", "v1.37.1", "v1.36.3", "v1.37.1"), func(sc *scenario) { sc.workersAt = "v1.33.2" }), ends: Succeeded,
	},
	{
		name:     "patch",
		summary:  "A patch release: kubelets restart, and pods keep running.",
		scenario: minor(upgradePath("v1.36.1", "v1.36.3", "v1.36.3"), pods(load{"cart", 3, 0, false})), ends: Succeeded,
	},
	{
		name:     "address-last",
		summary:  "cp-2 holds the API endpoint's address, so it is upgraded last.",
		scenario: minor(shape(3, 0)), before: func(w *world) { w.vip = "cp-2" }, ends: Succeeded,
	},
	{
		name:     "canary",
		summary:  "One node of the pool is upgraded first. The others follow once it has been healthy for ten minutes.",
		scenario: minor(shape(1, 4), oneCanary(), atOnce(2)), ends: Succeeded,
	},
	{
		name:     "sliding-window",
		summary:  "Six workers in two zones, two at a time: the next one starts as soon as one is done, and zone b waits for zone a.",
		scenario: minor(shape(1, 6), zones(2), atOnce(2)), ends: Succeeded,
	},
	{
		name:    "two-members",
		summary: "etcd has two members, and its quorum is both, so it is unavailable while one is upgraded. The user has waived that.",
		scenario: minor(shape(2, 0), spec(func(s *refitv1alpha1.ClusterUpgradeSpec) {
			s.Waivers = []refitv1alpha1.Waiver{{Check: policy.CheckTwoMembers, Reason: "the outage is announced"}}
		})), ends: Succeeded,
	},
	{
		name:     "external-etcd",
		summary:  "etcd is external: Refit checks and backs up its members, and does not upgrade them.",
		scenario: minor(shape(2, 1), func(sc *scenario) { sc.external = true }), ends: Succeeded,
	},
	{
		name:     "workers-later",
		summary:  "The control plane was upgraded last month. Now the workers follow.",
		scenario: minor(upgradePath("v1.36.3", "v1.36.3", "v1.36.3"), func(sc *scenario) { sc.workersAt = "v1.35.4" }, spec(workersOnly)), ends: Succeeded,
	},
	{
		name:     "control-plane-only",
		summary:  "The scope is ControlPlane. The workers stay, which the skew policy allows.",
		scenario: minor(shape(3, 1), spec(controlPlane)), ends: Succeeded,
	},
}
