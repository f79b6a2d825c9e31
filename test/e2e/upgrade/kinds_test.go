//go:build e2e

package upgrade

import (
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// kind is a kind of cluster, and how it is upgraded.
type kind struct {
	name, figure string
	spec         cluster.Spec
	alone        bool
	hops         []string
}

// TestUpgradeKinds upgrades a cluster of each kind with one command.
func TestUpgradeKinds(t *testing.T) {
	three := cluster.Spec{Name: "upkind", ControlPlanes: 3, Workers: 2, Kubernetes: older}
	single := cluster.Spec{Name: "upkind", Kubernetes: older}
	packages := three
	packages.Install, packages.Containerd = builder.InstallDeb, builder.ContainerdDebian
	for _, k := range []kind{
		{"three and two in the cluster", "upgrade_3_2", three, inCluster, []string{newer}},
		{"three and two standalone", "upgrade_3_2_standalone", three, standalone, []string{newer}},
		{"a single node in the cluster", "upgrade_1", single, inCluster, []string{newer}},
		{"a single node standalone", "upgrade_1_standalone", single, standalone, []string{newer}},
		{"packages and containerd", "upgrade_3_2_deb", packages, inCluster, []string{newer}},
		{"two hops", "upgrade_3_2_hops", three, inCluster, []string{newer, newest}},
	} {
		t.Run(k.name, func(t *testing.T) { k.upgrade(t) })
	}
}

// upgrade performs all hops in one plan. Control plane nodes are drained once per hop, workers
// once.
func (k kind) upgrade(t *testing.T) {
	t.Helper()
	s := newSite(t, k.spec, k.alone)
	var r *bed.Release
	for _, version := range k.hops {
		r = s.CreateRelease(t, version)
	}
	must(t, s.DeployWorkload(t.Context())) // sampled; its PDB is respected from the start
	monitor := s.monitor(t)
	s.Measured(t, k.figure, r.Parts.Kubernetes, waiveBare...)
	monitor.stop(t)
	for _, n := range s.Nodes() {
		want := 1
		if n.Role() == cluster.RoleControlPlane {
			want = len(k.hops)
		}
		if len(s.Nodes()) == 1 {
			want = 0 // there is no other node to move to
		}
		if got := monitor.cordons[n.Name()]; got != want {
			t.Errorf("%s was cordoned %d times, want %d", n.Name(), got, want)
		}
	}
	s.isAt(t, r)
	if k.spec.Containerd == builder.ContainerdDebian {
		for _, n := range s.Nodes() {
			must(t, s.RuntimeAt(t.Context(), n, "containerd://2.4.2"))
		}
	}
}

// isAt verifies the whole cluster against the release: hosts, objects, workload, and that no cordon
// of Refit is left.
func (s *site) isAt(t *testing.T, r *bed.Release) {
	t.Helper()
	must(t, s.RecordRelease(r.Parts))
	s.IsAt(t, r)
	s.NoCordonLeft(t)
	must(t, until(t.Context(), "the shop to be open again", checkTimeout, s.shopOpen))
}
