//go:build e2e

package agent

import (
	"maps"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// saved is a snapshot of a node from which many runs start.
type saved struct {
	b     *agents
	n     *cluster.Node
	label string
	// orders are the orders stored in the cluster at that time, if etcd runs on this node.
	orders map[string]*refitv1alpha1.NodeUpgradeSpec
}

// save copies a node's disk. The node is off afterwards.
func (b *agents) save(t *testing.T, n *cluster.Node, label string) saved {
	t.Helper()
	must(t, n.Poweroff(t.Context()))
	must(t, n.SaveDisk(t.Context(), label))
	s := saved{b: b, n: n, label: label}
	if n.Role() == cluster.RoleControlPlane {
		s.orders = maps.Clone(b.orders)
	}
	return s
}

// putBack restores the saved disk. The node is off afterwards.
func (s saved) putBack(t *testing.T) {
	t.Helper()
	must(t, s.n.Kill(t.Context()))
	must(t, s.n.RestoreDisk(t.Context(), s.label))
	if s.orders != nil {
		s.b.orders = maps.Clone(s.orders)
	}
}

// again restores the saved disk, boots the node and waits until the cluster is healthy. If the
// cluster still holds a later order, the node gets one that requires no more than it has already
// done.
func (s saved) again(t *testing.T) {
	t.Helper()
	s.putBack(t)
	if s.orders == nil {
		s.b.order(t, s.n, permit(refitv1alpha1.PermitPrefetch))
	}
	must(t, s.n.Start(t.Context()))
	must(t, s.b.WaitRecovered(t.Context(), recovery))
}
