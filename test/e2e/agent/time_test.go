//go:build e2e

package agent

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/bare"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/progress"
)

// share is the fraction of kubeadm's own time that the agent may take.
const share = 0.40

// TestAgentTime upgrades two identical clusters: one with kubeadm as documented, one with agents.
// Both times start when all files and images are present and end when every kubelet is Ready at the
// new version, without drains and without containerd.
func TestAgentTime(t *testing.T) {
	for _, c := range []struct {
		name, suffix  string
		controlPlanes int
	}{
		{"one control plane node", "1", 1},
		{"three control plane nodes", "3", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var byHand, byAgent float64
			t.Run("kubeadm", func(t *testing.T) { byHand = timeOfKubeadm(t, c.controlPlanes, c.suffix) })
			t.Run("agents", func(t *testing.T) { byAgent = timeOfAgents(t, c.controlPlanes, c.suffix) })
			if byHand == 0 || byAgent == 0 {
				t.Fatal("one of them was not measured")
			}
			show(t, "agent_share_of_kubeadm_"+c.suffix, byAgent/byHand, "ratio")
			if byAgent/byHand > share {
				t.Errorf("agents took %.1f s, kubeadm %.1f s: %.2f of it, want at most %.2f", byAgent, byHand, byAgent/byHand, share)
			}
		})
	}
}

// timeOfKubeadm measures the procedure in kubeadm's documentation, without its drains.
func timeOfKubeadm(t *testing.T, controlPlanes int, suffix string) float64 {
	t.Helper()
	c := testbed.Up(t, cluster.Spec{Name: "atimeb", ControlPlanes: controlPlanes, Kubernetes: older})
	must(t, c.Smoke(t.Context()))
	report, err := bare.Upgrade(t.Context(), c, newer, true, progress.New(os.Stdout))
	must(t, report.WriteTable(os.Stdout))
	must(t, err)
	var sum float64
	for _, n := range report.Nodes {
		for _, part := range n.Parts {
			if part.Name != "drain" && part.Name != "uncordon" {
				sum += part.Seconds
			}
		}
	}
	show(t, "bare_time_"+suffix, sum, "s")
	bed.ShowGaps(t, "bare_time", suffix, *report.Availability)
	return sum
}

// timeOfAgents measures from each node's order until its kubelet is Ready at the new version and
// its agent has reported success.
func timeOfAgents(t *testing.T, controlPlanes int, suffix string) float64 {
	t.Helper()
	return timeOf(t, newTimed(t, controlPlanes), "agent_time", suffix)
}

func timeOf(t *testing.T, b *agents, name, suffix string) float64 {
	t.Helper()
	r := b.CreateRelease(t, newer)
	b.prefetch(t, r, b.Nodes()...)
	sampler, err := bare.StartSampler(t.Context(), b.Cluster)
	must(t, err)
	t.Cleanup(func() { sampler.Stop() })
	var sum, ready float64
	for _, n := range b.Nodes() {
		must(t, sampler.Exclude(n.Name()))
		begun := time.Now()
		b.order(t, n, permit(refitv1alpha1.PermitApply))
		must(t, until(t.Context(), n.Name()+" to be Ready at the new version", changing, func(ctx context.Context) error {
			ctx, cancel := soon(ctx)
			defer cancel()
			return b.NodeAt(ctx, n, newer)
		}))
		ready += time.Since(begun).Seconds()
		status := b.mustPhase(t, n, changing, refitv1alpha1.NodeSucceeded)
		sum += time.Since(begun).Seconds()
		tellSteps(t, n, status)
		must(t, sampler.Include(n.Name()))
	}
	must(t, b.WaitWorkload(t.Context()))
	gaps := sampler.Stop()
	must(t, gaps.WriteTable(os.Stdout))
	show(t, name+"_"+suffix, sum, "s")
	show(t, name+"_ready_"+suffix, ready, "s")
	bed.ShowGaps(t, name, suffix, gaps)
	b.IsAt(t, r)
	return sum
}

// TestAgentTimeWithTheAPIServerRunning upgrades three control plane nodes whose API servers keep
// running while their etcd is swapped, to compare the API downtime with that of TestAgentTime.
func TestAgentTimeWithTheAPIServerRunning(t *testing.T) {
	b := newTimed(t, 3)
	for _, n := range b.Nodes() {
		text, err := readOn(t.Context(), n, "/etc/refit/agent.yaml")
		must(t, err)
		if !strings.Contains(text, "stopAPIServerDuringEtcdUpgrade: true") {
			t.Fatalf("the settings of %s lack stopAPIServerDuringEtcdUpgrade:\n%s", n.Name(), text)
		}
		must(t, writeOn(t.Context(), n, "/etc/refit/agent.yaml", strings.Replace(text, "stopAPIServerDuringEtcdUpgrade: true", "stopAPIServerDuringEtcdUpgrade: false", 1)))
		_, err = n.Exec(t.Context(), "systemctl", "restart", "refit-agent")
		must(t, err)
	}
	timeOf(t, b, "agent_in_place", "3")
}

// newTimed creates a cluster with agents as users get them.
func newTimed(t *testing.T, controlPlanes int) *agents {
	t.Helper()
	b := newBareBed(t, cluster.Spec{Name: "atimea", ControlPlanes: controlPlanes, Kubernetes: older})
	b.installAgents(t, b.Agent)
	must(t, b.Smoke(t.Context()))
	return b
}

// tellSteps logs the duration of each step, to the second.
func tellSteps(t *testing.T, n *cluster.Node, status refitv1alpha1.NodeUpgradeStatus) {
	t.Helper()
	for _, step := range status.Steps {
		if step.StartTime != nil && step.CompletionTime != nil {
			t.Logf("%s: %-20s %3.0f s", n.Name(), step.Name, step.CompletionTime.Sub(step.StartTime.Time).Seconds())
		}
	}
}
