package plan

import (
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

func TestHash(t *testing.T) {
	base := func(changes ...clustertest.Change) *cluster.Snapshot {
		return clustertest.HA("v1.34.4", 3, 2, append([]clustertest.Change{clustertest.Agents(), clustertest.Released("v1.35.4", "v1.36.3")}, changes...)...)
	}
	was, err := Make(base(), to("v1.36.3"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		situation string
		cluster   *cluster.Snapshot
		spec      refitv1alpha1.ClusterUpgradeSpec
		same      bool
	}{
		{"nothing changed", base(), to("v1.36.3"), true},
		{"the nodes are listed in another order", base(func(s *cluster.Snapshot) { slices.Reverse(s.Nodes) }), to("v1.36.3"), true},
		{"etcd's leader moved", base(clustertest.OnNode("cp-2", func(n *cluster.Node) { n.Report.Etcd.Leader = true })), to("v1.36.3"), true},
		{"another node holds the endpoint's address", base(func(s *cluster.Snapshot) { s.Endpoint.Holder = "cp-3" }), to("v1.36.3"), true},
		{"a worker left", base(func(s *cluster.Snapshot) { s.Nodes = s.Nodes[:4] }), to("v1.36.3"), true},
		{"times were observed", base(clustertest.OnEveryNode(upgradedBefore)), to("v1.36.3"), true},
		{"the defaults are written out", base(), policy.Defaulted(to("v1.36.3")), true},
		{
			"the operation is on its way", base(recorded(was), upgradedByHand("cp-1", "v1.35.4"), upgradedByHand("cp-2", "v1.35.4"), upgradedByHand("cp-3", "v1.35.4")),
			to("v1.36.3"), true,
		},
		{"a newer ClusterRelease came while the operation is on its way", base(recorded(was), clustertest.Released("v1.35.9")), to("v1.36.3"), true},

		{"a newer ClusterRelease came before the operation", base(clustertest.Released("v1.35.9")), to("v1.36.3"), false},
		{"another version to start from", clustertest.HA("v1.34.1", 3, 2, clustertest.Agents(), clustertest.Released("v1.35.4", "v1.36.3")), to("v1.36.3"), false},
		{"another target", base(), to("v1.35.4"), false},
		{"another scope", base(), scoped(to("v1.36.3"), refitv1alpha1.ScopeControlPlane), false},
		{"a selector", base(), selecting(to("v1.36.3"), "wave", "now"), false},
		{"a pool's policy", base(), with(to("v1.36.3"), refitv1alpha1.Pool{Name: policy.DefaultPool, MaxUnavailable: share("2")}), false},
		{"a waiver", base(), waiving(to("v1.36.3"), "NodeNotReady", "Node worker-1"), false},
		{"another drill of the backup", base(), restoring(to("v1.36.3")), false},
		{"a backup that is waived", base(), waiving(backingUp(to("v1.36.3")), policy.CheckBackup, ""), false},
		{"rollback by hand", base(), func() refitv1alpha1.ClusterUpgradeSpec {
			spec := to("v1.36.3")
			spec.Rollback = refitv1alpha1.RollbackManual
			return spec
		}(), true},
		{"the ClusterRelease has other content", base(func(s *cluster.Snapshot) { s.Releases[0].Digest = "sha256:other" }), to("v1.36.3"), false},
		{"a control plane node left", base(func(s *cluster.Snapshot) { s.Nodes = slices.Delete(s.Nodes, 2, 3) }), to("v1.36.3"), false},
	}
	for _, test := range tests {
		t.Run(test.situation, func(t *testing.T) {
			p, err := Make(test.cluster, test.spec)
			if err != nil {
				t.Fatal(err)
			}
			if same := p.Hash == was.Hash; same != test.same {
				t.Errorf("the hash is the same: %v, want %v", same, test.same)
			}
		})
	}
}

// recorded is an operation with a recorded plan.
func recorded(p *Plan) clustertest.Change {
	return func(s *cluster.Snapshot) {
		clustertest.WithOperation("spring", to("v1.36.3"))(s)
		s.Operation.Plan = p.Summary()
	}
}

// TestHashesOfKnownPlans fails when the definition of the hash changes. Operations in progress
// would then wait for approval again, so such a change must be deliberate.
func TestHashesOfKnownPlans(t *testing.T) {
	for name, c := range map[string]struct {
		cluster *cluster.Snapshot
		spec    refitv1alpha1.ClusterUpgradeSpec
		want    string
	}{
		"two hops": {
			clustertest.HA("v1.34.4", 3, 2, clustertest.Agents(), clustertest.Released("v1.35.4", "v1.36.3")), to("v1.36.3"),
			"sha256:e168d25bc28dc44843aa5a10c64c506ee5909b884117da5a11c935d6c9d4fa7f",
		},
		"workers only": {
			clustertest.HA("v1.36.3", 3, 2, clustertest.Agents(), clustertest.Released("v1.36.3")),
			scoped(to("v1.36.3"), refitv1alpha1.ScopeWorkers),
			"sha256:46b6d82f425f07ceb43d9e2b60003b76a86a0eab39170d065d5899007e26abbc",
		},
		"a single node": {
			clustertest.Single("v1.35.4", clustertest.Agents(), clustertest.Released("v1.36.3")), to("v1.36.3"),
			"sha256:38a6ba83743561a20dfe323777df28ef383b10fabe24f7b5c5397698a8f951d0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Make(c.cluster, c.spec)
			if err != nil {
				t.Fatal(err)
			}
			if p.Hash != c.want {
				t.Errorf("the hash is %s, want %s", p.Hash, c.want)
			}
		})
	}
}
