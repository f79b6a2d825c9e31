//go:build e2e

package agent

import (
	"context"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/bare"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestAgentUpgrades upgrades a cluster of each kind of host to the newer version with orders only,
// and the first of them on to the newest.
func TestAgentUpgrades(t *testing.T) {
	t.Run("binaries", func(t *testing.T) {
		b := newBed(t, cluster.Spec{Name: "abin", ControlPlanes: 3, Workers: 2, Kubernetes: older, Install: builder.InstallBinaries, Containerd: builder.ContainerdBuilt})
		b.upgradeAll(t, newer, "agent_upgrade_3_2")
		b.upgradeAll(t, newest, "agent_upgrade_3_2_newest")
	})
	t.Run("packages and containerd", func(t *testing.T) {
		b := newBed(t, cluster.Spec{Name: "adeb", ControlPlanes: 3, Workers: 2, Kubernetes: older, Install: builder.InstallDeb, Containerd: builder.ContainerdDebian})
		b.upgradeAll(t, newer, "agent_upgrade_3_2_deb")
		for _, n := range b.Nodes() {
			must(t, b.RuntimeAt(t.Context(), n, "containerd://2.4.2"))
		}
	})
}

// upgradeAll upgrades every node, control planes first, one at a time, and verifies the whole
// cluster against the release.
func (b *agents) upgradeAll(t *testing.T, version, name string) {
	t.Helper()
	must(t, b.Smoke(t.Context()))
	r := b.CreateRelease(t, version)
	begun := time.Now()
	b.prefetch(t, r, b.Nodes()...)
	show(t, name+"_prefetch", time.Since(begun).Seconds(), "s")

	sampler, err := bare.StartSampler(t.Context(), b.Cluster)
	must(t, err)
	t.Cleanup(func() { sampler.Stop() })
	begun = time.Now()
	for _, n := range b.Nodes() {
		must(t, sampler.Exclude(n.Name()))
		took := b.apply(t, n)
		t.Logf("%s is at %s after %.1f s", n.Name(), version, took.Seconds())
		must(t, sampler.Include(n.Name()))
	}
	show(t, name, time.Since(begun).Seconds(), "s")
	must(t, b.WaitWorkload(t.Context()))
	report := sampler.Stop()
	bed.ShowGaps(t, name, "all", report)

	must(t, b.RecordRelease(r.Parts))
	b.IsAt(t, r)
}

// prefetch orders nodes to fetch a release, all at once.
func (b *agents) prefetch(t *testing.T, r *bed.Release, nodes ...*cluster.Node) {
	t.Helper()
	for _, n := range nodes {
		b.order(t, n, permit(refitv1alpha1.PermitPrefetch), to(r))
	}
	bed.OnNodes(t, nodes, func(ctx context.Context, n *cluster.Node) error {
		_, err := b.waitPhase(ctx, n, fetching, refitv1alpha1.NodePrefetched)
		return err
	})
}

// apply orders one node to change and returns how long it took.
func (b *agents) apply(t *testing.T, n *cluster.Node) time.Duration {
	t.Helper()
	begun := time.Now()
	b.order(t, n, permit(refitv1alpha1.PermitApply))
	b.mustPhase(t, n, changing, refitv1alpha1.NodeSucceeded)
	return time.Since(begun)
}
