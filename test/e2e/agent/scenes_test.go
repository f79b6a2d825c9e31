//go:build e2e

package agent

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// scene is a node with its own disk to inject faults into, together with its initial state.
type scene struct {
	b *agents
	n *cluster.Node
	r *bed.Release
	// start is the node at the older version: a control plane node without any order yet, or a
	// worker that has fetched everything.
	start saved
	// was is the state of the host at that time.
	was bed.State
}

// scenes are created on first use and last as long as the test that created them.
type scenes struct {
	t                         *testing.T
	controlPlane, worker, hop *scene
}

// onControlPlane is a cluster of one node.
func (s *scenes) onControlPlane() *scene {
	if s.controlPlane == nil {
		s.controlPlane = single(s.t, "afcp", older, newer)
	}
	return s.controlPlane
}

// onHop is a cluster of one node whose next version has a new minor version of etcd.
func (s *scenes) onHop() *scene {
	if s.hop == nil {
		s.hop = single(s.t, "afhop", newer, newest)
	}
	return s.hop
}

func single(t *testing.T, name, from, to string) *scene {
	t.Helper()
	b := newBed(t, cluster.Spec{Name: name, Kubernetes: from, Disk: diskSize})
	must(t, b.Smoke(t.Context()))
	sc := &scene{b: b, n: b.First(cluster.RoleControlPlane), r: b.CreateRelease(t, to)}
	sc.keep(t)
	return sc
}

// onWorker is a cluster of two nodes whose control plane is already upgraded.
func (s *scenes) onWorker() *scene {
	if s.worker == nil {
		b := newBed(s.t, cluster.Spec{Name: "afw", Workers: 1, Kubernetes: older, Disk: diskSize})
		must(s.t, b.Smoke(s.t.Context()))
		s.worker = &scene{b: b, n: b.First(cluster.RoleWorker), r: b.CreateRelease(s.t, newer)}
		b.prefetch(s.t, s.worker.r, b.Nodes()...)
		b.apply(s.t, b.First(cluster.RoleControlPlane))
		must(s.t, b.WaitReady(s.t.Context(), recovery))
		s.worker.keep(s.t)
	}
	return s.worker
}

func (s *scene) keep(t *testing.T) {
	t.Helper()
	var err error
	s.was, err = bed.StateOf(t.Context(), s.n)
	must(t, err)
	s.start = s.b.save(t, s.n, "start")
}

// again resets the node to its initial state, with an idle agent, intact servers and no crash
// points.
func (s *scene) again(t *testing.T) {
	t.Helper()
	s.b.clearFaults()
	s.start.again(t)
	t.Cleanup(func() { s.b.LogIfFailed(t, "nodeupgrades") })
}

// fetched is again with all files of the release fetched.
func (s *scene) fetched(t *testing.T) {
	t.Helper()
	s.again(t)
	if s.n.Role() == cluster.RoleControlPlane {
		s.b.prefetch(t, s.r, s.n)
	}
}

// standAt starts the change and waits until the agent is stopped at a point.
func (s *scene) standAt(t *testing.T, point string) {
	t.Helper()
	must(t, crashAt(t.Context(), s.n, crashStop, point))
	s.b.order(t, s.n, permit(refitv1alpha1.PermitApply))
	must(t, waitStanding(t.Context(), s.n))
}

// succeeds waits until the node is at the release.
func (s *scene) succeeds(t *testing.T) {
	t.Helper()
	s.b.mustPhase(t, s.n, changing, refitv1alpha1.NodeSucceeded)
	must(t, s.b.WaitReady(t.Context(), recovery))
	must(t, until(t.Context(), "all to be at the release", checkTimeout, func(ctx context.Context) error { return s.b.AtRelease(ctx, s.n, s.r) }))
}

// retried raises the attempt, as an operator does after fixing the cause.
func (s *scene) retried(t *testing.T) {
	t.Helper()
	s.b.order(t, s.n, retry, permit(refitv1alpha1.PermitApply))
	s.succeeds(t)
}

// untouched verifies that the host is unchanged and healthy.
func (s *scene) untouched(t *testing.T) {
	t.Helper()
	is, err := bed.StateOf(t.Context(), s.n)
	must(t, err)
	if err := is.Differences(s.was); err != nil {
		t.Errorf("the host is not what it was: %v", err)
	}
	must(t, s.b.NodeAt(t.Context(), s.n, s.b.Spec().Kubernetes))
}

// putBack waits until the agent has rolled the node back to the older version, and verifies that
// the node is healthy. Parts with forward-only state may stay new.
func (s *scene) putBack(t *testing.T, kept ...string) refitv1alpha1.NodeUpgradeStatus {
	t.Helper()
	status := s.b.mustPhase(t, s.n, changing, refitv1alpha1.NodeRolledBack)
	must(t, s.b.WaitReady(t.Context(), recovery))
	is, err := bed.StateOf(t.Context(), s.n)
	must(t, err)
	for _, file := range kept {
		delete(is, file)
	}
	want := bed.State{}
	for file, digest := range s.was {
		if _, ok := is[file]; ok || !slices.Contains(kept, file) {
			want[file] = digest
		}
	}
	if err := is.Differences(want); err != nil {
		t.Errorf("the host is not what it was: %v", err)
	}
	must(t, until(t.Context(), "the node to be the older one", checkTimeout, func(ctx context.Context) error {
		return s.b.NodeAt(ctx, s.n, s.b.Spec().Kubernetes)
	}))
	return status
}

// took returns the duration of a rollback, from the start of the failed step, by the host's own
// clock.
func took(status refitv1alpha1.NodeUpgradeStatus, step string) (time.Duration, error) {
	for _, one := range status.Steps {
		if one.Name == step && one.StartTime != nil && status.CompletionTime != nil {
			return status.CompletionTime.Sub(one.StartTime.Time), nil
		}
	}
	return 0, fmt.Errorf("the status does not say when %s began and all ended", step)
}

// failsWith waits until the agent gives up for one of these reasons.
func (s *scene) failsWith(t *testing.T, deadline time.Duration, reasons ...string) refitv1alpha1.NodeError {
	t.Helper()
	status := s.b.mustPhase(t, s.n, deadline, refitv1alpha1.NodeFailed)
	if status.Error == nil {
		t.Fatal("the node failed without a word")
	}
	if !slices.Contains(reasons, status.Error.Reason) {
		t.Errorf("the node failed with %s (%s), want one of %v", status.Error.Reason, status.Error.Message, reasons)
	}
	if status.Error.Remedy == "" {
		t.Error("the failure has no remedy")
	}
	return *status.Error
}

// refused waits until the agent reports that it does not accept the node's order.
func (b *agents) refused(t *testing.T, n *cluster.Node, reason string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	defer cancel()
	var last refitv1alpha1.NodeUpgradeStatus
	err := bed.Follow(ctx, b.Bed, bed.NodeUpgrades, n.Name(), func(u *refitv1alpha1.NodeUpgrade) bool {
		last = u.Status
		for _, c := range u.Status.Conditions {
			if c.Type == refitv1alpha1.ConditionAccepted && c.Status == "False" && c.Reason == reason {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatalf("the order was not refused with %s: %s, %v: %v", reason, tell(last), last.Conditions, err)
	}
}

// clearFaults clears the faults of all servers.
func (b *agents) clearFaults() {
	b.Server.Breaks(nil)
	b.Second.Breaks(nil)
}
