package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// A waiver of one of these checks that names a node changes what the plan does with that node.
const (
	checkNodeNotReady = "NodeNotReady"       // the node is left out, and does not count as unavailable
	checkNodeCordoned = "NodeCordonedByHand" // the node does not count as unavailable
	checkTwoMembers   = "EtcdTwoMembers"     // etcd loses its quorum for the time of the swap, and a person said yes
)

// waived says whether a person set this check aside for this object by its name.
func waived(spec *refitv1alpha1.ClusterUpgradeSpec, check, object string) bool {
	return slices.ContainsFunc(spec.Waivers, func(w refitv1alpha1.Waiver) bool { return w.Check == check && w.Object == object })
}

// waivedAnywhere says whether a person set this check aside, for one object or for all.
func waivedAnywhere(spec *refitv1alpha1.ClusterUpgradeSpec, check string) bool {
	return slices.ContainsFunc(spec.Waivers, func(w refitv1alpha1.Waiver) bool { return w.Check == check })
}

func nodeObject(name string) string { return "Node " + name }

// leftOut says why the plan does not touch a node, in an empty string if it does.
func leftOut(spec *refitv1alpha1.ClusterUpgradeSpec, n *cluster.Node) string {
	switch {
	case n.ControlPlane && spec.Scope == refitv1alpha1.ScopeWorkers:
		return "the scope is Workers"
	case n.ControlPlane:
		return ""
	case spec.Scope == refitv1alpha1.ScopeControlPlane:
		return "the scope is ControlPlane"
	case !hasLabels(n, spec.NodeSelector):
		return fmt.Sprintf("it lacks the labels %s", labels.Set(spec.NodeSelector))
	case n.OS != "" && n.OS != "linux":
		return fmt.Sprintf("it runs %s, and Refit upgrades Linux hosts only", n.OS)
	case !n.IsReady() && waived(spec, checkNodeNotReady, nodeObject(n.Name)):
		return "it is not ready, and a waiver sets it aside"
	}
	return ""
}

// hasLabels says whether a node has all of these labels.
func hasLabels(n *cluster.Node, want refitv1alpha1.Labels) bool {
	for key, value := range want {
		if has, ok := n.Labels[key]; !ok || has != value {
			return false
		}
	}
	return true
}

// poolOf returns the index of the first pool whose selector matches; the last one is the default pool and matches every worker.
func poolOf(spec *refitv1alpha1.ClusterUpgradeSpec, n *cluster.Node) int {
	for i := range spec.Pools {
		pool := &spec.Pools[i]
		if pool.Name == DefaultPool || hasLabels(n, pool.NodeSelector) {
			return i
		}
	}
	return len(spec.Pools) - 1
}

// maxUnavailable resolves a pool's bound against its size: percentages round down, and at least one node may always go.
func maxUnavailable(pool *refitv1alpha1.Pool, size int) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(pool.MaxUnavailable, size, false)
	if err != nil { // the API refuses such a value; a file may still hold one
		n = 1
	}
	return max(1, n)
}

// drainPolicy is the pool's policy for a worker; control plane nodes are drained as the default pool says.
func drainPolicy(spec *refitv1alpha1.ClusterUpgradeSpec, n *cluster.Node) *refitv1alpha1.Drain {
	if n.ControlPlane {
		return &spec.Pools[len(spec.Pools)-1].Drain
	}
	return &spec.Pools[poolOf(spec, n)].Drain
}

// byName orders nodes as people count them: worker-2 before worker-10.
func byName(a, b string) int {
	for a != "" && b != "" {
		if isDigit(a[0]) && isDigit(b[0]) {
			x, y := digits(a), digits(b)
			i, j := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if len(i) != len(j) {
				return len(i) - len(j)
			}
			if c := strings.Compare(i, j); c != 0 {
				return c
			}
			a, b = a[len(x):], b[len(y):]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func digits(s string) string {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return s[:i]
		}
	}
	return s
}
