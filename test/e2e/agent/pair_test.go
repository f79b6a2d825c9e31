//go:build e2e

package agent

import (
	"context"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestAgentPair orders two control plane nodes at once, which no controller should do: the second
// one must wait for the first and report it. The agent of the second one is also killed at each
// point, which covers the steps of additional control plane nodes.
func TestAgentPair(t *testing.T) {
	b := newBed(t, cluster.Spec{Name: "apair", ControlPlanes: 3, Kubernetes: older})
	r := b.CreateRelease(t, newer)
	b.prefetch(t, r, b.Nodes()...)
	nodes := b.Nodes()
	b.apply(t, nodes[0])

	must(t, crashAt(t.Context(), nodes[1], crashStop, "swap-etcd/swap-etcd:before"))
	must(t, crashAt(t.Context(), nodes[2], crashEach))
	b.order(t, nodes[1], permit(refitv1alpha1.PermitApply))
	must(t, waitStanding(t.Context(), nodes[1]))
	before, err := bed.StateOf(t.Context(), nodes[2])
	must(t, err)
	b.order(t, nodes[2], permit(refitv1alpha1.PermitApply))
	b.waitsFor(t, nodes[2], nodes[1].Name())
	time.Sleep(20 * time.Second) // it must not time out during this time
	now, err := bed.StateOf(t.Context(), nodes[2])
	must(t, err)
	for _, component := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		if file := "/etc/kubernetes/manifests/" + component + ".yaml"; now[file] != before[file] {
			t.Errorf("%s of %s was swapped while %s holds the lock", file, nodes[2].Name(), nodes[1].Name())
		}
	}
	must(t, goOn(t.Context(), nodes[1]))
	b.mustPhase(t, nodes[1], changing, refitv1alpha1.NodeSucceeded)
	b.mustPhase(t, nodes[2], 2*changing, refitv1alpha1.NodeSucceeded)
	points, err := pointsOf(t.Context(), nodes[2])
	must(t, err)
	show(t, "agent_kills_further_control_plane", float64(len(points)), "points")
	b.IsAt(t, r)
}

// waitsFor waits until the agent of a node reports that it waits for another node.
func (b *agents) waitsFor(t *testing.T, n *cluster.Node, other string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	defer cancel()
	err := bed.Follow(ctx, b.Bed, bed.NodeUpgrades, n.Name(), func(u *refitv1alpha1.NodeUpgrade) bool {
		for _, c := range u.Status.Conditions {
			if c.Type == refitv1alpha1.ConditionWaiting && mentions(c.Message, other) == nil {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatalf("%s does not say that it waits for %s: %v", n.Name(), other, err)
	}
}
