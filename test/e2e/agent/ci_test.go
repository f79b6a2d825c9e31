//go:build e2e

package agent

import (
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestAgentCI is the gate for every change: a control plane node and a worker upgrade themselves
// while their agents are killed before and after every effect on the host, once at each point.
func TestAgentCI(t *testing.T) {
	begun := time.Now()
	b := newBed(t, cluster.Spec{Name: "aci", Workers: 1, Kubernetes: older})
	r := b.CreateConfigurationRelease(t, newer)
	t.Logf("cluster, agents and release after %.0f s", time.Since(begun).Seconds())
	for _, n := range b.Nodes() {
		b.upgradeWithKills(t, n, r, "agent_kills")
	}
	b.IsAt(t, r)
	b.Configured(t, false)
	show(t, "agent_ci", time.Since(begun).Seconds(), "s")
}

// upgradeWithKills upgrades a node to a release while its agent is killed at every point, and
// prints figures with this name.
func (b *agents) upgradeWithKills(t *testing.T, n *cluster.Node, r *bed.Release, name string) {
	t.Helper()
	must(t, crashAt(t.Context(), n, crashEach))
	begun := time.Now()
	b.order(t, n, permit(refitv1alpha1.PermitPrefetch), to(r))
	b.mustPhase(t, n, fetching, refitv1alpha1.NodePrefetched)
	b.order(t, n, permit(refitv1alpha1.PermitApply))
	b.mustPhase(t, n, 2*changing, refitv1alpha1.NodeSucceeded)
	points, err := pointsOf(t.Context(), n)
	must(t, err)
	lives, err := agentLives(t.Context(), n)
	must(t, err)
	t.Logf("%s was killed at %d points: %v", n.Name(), len(points), points)
	if lives < len(points) {
		t.Errorf("the agent of %s reached %d points, but was started %d times only: it did not die at each", n.Name(), len(points), lives)
	}
	name += "_" + n.Role()
	show(t, figureName(name), float64(len(points)), "points")
	show(t, figureName(name+"_took"), time.Since(begun).Seconds(), "s")
	must(t, noCrashes(t.Context(), n))
}
