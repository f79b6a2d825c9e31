//go:build e2e

package upgrade

import (
	"context"
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// leaderChanges is the maximum number of etcd leader changes for each control plane node.
const leaderChanges = 3

// TestUpgradeControlPlaneFaults stops members of a control plane of three before and during one
// operation. No further node starts until each member is back, etcd keeps its quorum, and its
// leader changes no more often than necessary.
func TestUpgradeControlPlaneFaults(t *testing.T) {
	s := newSite(t, cluster.Spec{Name: "upquor", ControlPlanes: 3, Kubernetes: older}, inCluster)
	r := s.CreateRelease(t, newer)
	monitor := s.monitor(t)
	o := s.memberDownBefore(t)
	var done []string
	for _, f := range []struct {
		name          string
		breaks, mends func(context.Context, *cluster.Node) error
	}{
		{"F37_a_member_of_etcd_is_down_in_the_middle", etcdAway, etcdBack},
		{"F41_a_control_plane_node_is_cut_off", cutOff, healed},
	} {
		ok := t.Run(f.name, func(t *testing.T) {
			at := s.swapsKubelet(t, o, done)
			done = append(done, at.Name())
			other := s.notYet(done)
			must(t, f.breaks(t.Context(), other))
			o.waits(t, "words about "+other.Name(), whole, func(u *refitv1alpha1.ClusterUpgrade) bool {
				begun := slices.DeleteFunc(slices.Clone(u.Status.Active), func(name string) bool { return name == at.Name() })
				return mentions(u.Status.Message, other.Name()) == nil && len(begun) == 0 // the active node does not finish until all are healthy
			})
			t.Log(s.RunRefit(t, "status", o.name))
			must(t, f.mends(t.Context(), other))
		})
		if !ok {
			t.Fatal("what follows needs a cluster that is well")
		}
	}
	o.reaches(t, refitv1alpha1.PhaseSucceeded)
	monitor.stop(t)
	t.Run("F38_the_leader_of_etcd_moves_no_more_often_than_it_must", func(t *testing.T) {
		show(t, "upgrade_etcd_leader_changes", float64(monitor.leaderChanges), "changes")
		if most := leaderChanges * 3; monitor.leaderChanges > most {
			t.Errorf("etcd changed its leader %d times, want at most %d", monitor.leaderChanges, most)
		}
	})
	s.isAt(t, r)
}

// memberDownBefore requests an upgrade while a member of etcd is down. The upgrade does not start
// until the member is fixed.
func (s *site) memberDownBefore(t *testing.T) *operation {
	t.Helper()
	var o *operation
	if !t.Run("F37_a_member_of_etcd_is_down_before", func(t *testing.T) {
		down := s.OfRole(cluster.RoleControlPlane)[2]
		must(t, etcdAway(t.Context(), down))
		o = s.ask(t, "quorum")
		o.waits(t, "words about etcd", whole, func(u *refitv1alpha1.ClusterUpgrade) bool {
			return u.Status.Phase == refitv1alpha1.PhaseStalled && mentions(u.Status.Message, down.Name()) == nil && len(u.Status.Active) == 0 && u.Status.Nodes.Done == 0
		})
		must(t, etcdBack(t.Context(), down))
		must(t, s.WaitReady(t.Context(), recovery))
	}) {
		t.Fatal("what follows needs a cluster that is well")
	}
	return o
}

// swapsKubelet waits until a control plane node other than these has finished its etcd step: from
// then on another member may fail.
func (s *site) swapsKubelet(t *testing.T, o *operation, but []string) *cluster.Node {
	t.Helper()
	u := o.waits(t, "the next node", whole, func(u *refitv1alpha1.ClusterUpgrade) bool {
		return len(u.Status.Active) == 1 && !slices.Contains(but, u.Status.Active[0])
	})
	n, err := s.Node(u.Status.Active[0])
	must(t, err)
	s.AwaitStep(t, n, "swap-kubelet")
	return n
}

// notYet returns a control plane node other than these.
func (s *site) notYet(done []string) *cluster.Node {
	nodes := s.OfRole(cluster.RoleControlPlane)
	return nodes[slices.IndexFunc(nodes, func(n *cluster.Node) bool { return !slices.Contains(done, n.Name()) })]
}

// Faults of a control plane node, and their fixes.

const etcdManifest, etcdKept = "/etc/kubernetes/manifests/etcd.yaml", "/root/etcd.yaml"

func etcdAway(ctx context.Context, n *cluster.Node) error {
	_, err := n.Exec(ctx, "mv", etcdManifest, etcdKept)
	return err
}

func etcdBack(ctx context.Context, n *cluster.Node) error {
	_, err := n.Exec(ctx, "mv", etcdKept, etcdManifest)
	return err
}

func cutOff(_ context.Context, n *cluster.Node) error { return n.Partition() }

func healed(_ context.Context, n *cluster.Node) error { return n.Heal() }
