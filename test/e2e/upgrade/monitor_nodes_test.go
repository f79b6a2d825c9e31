//go:build e2e

package upgrade

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/watch"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// kubeletsBehind is the number of minor versions that a kubelet may be older than its API server.
const kubeletsBehind = 3

// nodes are the Nodes that the watch last returned.
type nodes map[string]*corev1.Node

func (m *monitor) watchNodes(ctx context.Context) {
	bed.Watch(ctx, m.s.Bed, corev1.SchemeGroupVersion.WithResource("nodes"), func() {}, func(event watch.EventType, n *corev1.Node) {
		if event == watch.Deleted {
			delete(m.nodes, n.Name)
			return
		}
		was := m.nodes[n.Name]
		m.nodes[n.Name] = n
		m.lookAtCordon(was, n)
		m.lookAtKubelet(n)
	})
}

// lookAtCordon checks that no node is cordoned while the maximum number of nodes is already
// unavailable.
func (m *monitor) lookAtCordon(was, now *corev1.Node) {
	m.look(maxUnavailable, "")
	if was == nil || was.Spec.Unschedulable || !now.Spec.Unschedulable {
		return
	}
	m.cordons[now.Name]++
	const most = 1 // for the workers, and for the control plane
	away := []string{now.Name}
	for name, other := range m.nodes {
		if name != now.Name && m.role(other) == m.role(now) && (other.Spec.Unschedulable || !cluster.NodeReady(*other)) {
			away = append(away, name)
		}
	}
	if len(away) > most {
		m.look(maxUnavailable, "%s was cordoned, and so %s are away", now.Name, strings.Join(away, ", "))
	}
}

// lookAtKubelet checks that a kubelet is never newer than an API server that it may connect to, nor
// too old for one. On a control plane node it connects to the local one.
func (m *monitor) lookAtKubelet(n *corev1.Node) {
	kubelet := minor(n.Status.NodeInfo.KubeletVersion)
	for name, server := range m.servers.all() {
		switch {
		case kubelet > server && (m.role(n) == cluster.RoleWorker || name == n.Name):
			m.look(skew, "the kubelet of %s is at 1.%d, and the API server of %s at 1.%d", n.Name, kubelet, name, server)
		case server-kubelet > kubeletsBehind:
			m.look(skew, "the kubelet of %s is at 1.%d, and the API server of %s at 1.%d already", n.Name, kubelet, name, server)
		default:
			m.look(skew, "")
		}
	}
}

func (m *monitor) role(n *corev1.Node) string {
	if _, is := n.Labels["node-role.kubernetes.io/control-plane"]; is {
		return cluster.RoleControlPlane
	}
	return cluster.RoleWorker
}

// watchBudgets checks that every PDB is respected, except that of the controllers, which tests
// kill.
func (m *monitor) watchBudgets(ctx context.Context) {
	kind := policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets")
	bed.Watch(ctx, m.s.Bed, kind, func() {}, func(_ watch.EventType, b *policyv1.PodDisruptionBudget) {
		s := b.Status
		if b.Namespace == "refit-system" {
			return
		}
		if s.ObservedGeneration == b.Generation && s.CurrentHealthy < s.DesiredHealthy {
			m.look(budgets, "%s/%s has %d healthy pods and wants %d", b.Namespace, b.Name, s.CurrentHealthy, s.DesiredHealthy)
			return
		}
		m.look(budgets, "")
	})
}

// watchOrders checks that no order comes from a deposed leader.
func (m *monitor) watchOrders(ctx context.Context) {
	highest := map[string]int64{}
	bed.Watch(ctx, m.s.Bed, bed.NodeUpgrades, func() {}, func(_ watch.EventType, u *refitv1alpha1.NodeUpgrade) {
		if u.Spec.Epoch < highest[u.Name] {
			m.look(fence, "the order to %s is of epoch %d, after one of %d", u.Name, u.Spec.Epoch, highest[u.Name])
			return
		}
		highest[u.Name] = u.Spec.Epoch
		m.look(fence, "")
	})
}

// minor returns 36 for v1.36.3, and 0 for an invalid version.
func minor(version string) int {
	var minor int
	_, _ = fmt.Sscanf(version, "v1.%d", &minor) // zero is a valid result
	return minor
}
