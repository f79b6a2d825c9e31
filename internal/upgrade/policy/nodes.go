package policy

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// A waiver of one of these checks that names a node changes what the plan does with that node.
const (
	CheckNodeNotReady = "NodeNotReady"       // the node is left out, and does not count as unavailable
	CheckNodeCordoned = "NodeCordonedByHand" // the node does not count as unavailable
	CheckTwoMembers   = "EtcdTwoMembers"     // etcd loses its quorum for the time of the swap, and a person said yes
	CheckUnmanaged    = "UnmanagedPod"       // a pod that nobody makes anew may be ended for good
)

// Waived says whether a person set this check aside for this object by its name.
func Waived(spec *refitv1alpha1.ClusterUpgradeSpec, check, object string) bool {
	return slices.ContainsFunc(spec.Waivers, func(w refitv1alpha1.Waiver) bool { return w.Check == check && w.Object == object })
}

// WaivedAnywhere says whether a person set this check aside, for one object or for all.
func WaivedAnywhere(spec *refitv1alpha1.ClusterUpgradeSpec, check string) bool {
	return slices.ContainsFunc(spec.Waivers, func(w refitv1alpha1.Waiver) bool { return w.Check == check })
}

// MayLose says whether a person agreed that a pod that nobody makes anew is ended for good.
func MayLose(spec *refitv1alpha1.ClusterUpgradeSpec, namespace, name string) bool {
	return Waived(spec, CheckUnmanaged, "") || Waived(spec, CheckUnmanaged, "Pod "+namespace+"/"+name)
}

// NodeObject is how findings and waivers name a node.
func NodeObject(name string) string { return "Node " + name }

// LeftOut says why the plan does not touch a node, in an empty string if it does.
func LeftOut(spec *refitv1alpha1.ClusterUpgradeSpec, n *cluster.Node) string {
	switch {
	case n.ControlPlane && spec.Scope == refitv1alpha1.ScopeWorkers:
		return "the scope is Workers"
	case n.ControlPlane:
		return ""
	case spec.Scope == refitv1alpha1.ScopeControlPlane:
		return "the scope is ControlPlane"
	case !HasLabels(n, spec.NodeSelector):
		return fmt.Sprintf("it lacks the labels %s", labels.Set(spec.NodeSelector))
	case !isLinux(n):
		return fmt.Sprintf("it runs %s, and Refit upgrades Linux hosts only", n.OS)
	case !n.IsReady() && Waived(spec, CheckNodeNotReady, NodeObject(n.Name)):
		return "it is not ready, and a waiver sets it aside"
	}
	return ""
}

// HasLabels says whether a node has all of these labels.
func HasLabels(n *cluster.Node, want refitv1alpha1.Labels) bool {
	for key, value := range want {
		if has, ok := n.Labels[key]; !ok || has != value {
			return false
		}
	}
	return true
}

// Pooled says whether a node counts in its pool: workers do, also those that a spec leaves out, but not hosts that Refit can never upgrade.
func Pooled(n *cluster.Node) bool { return !n.ControlPlane && isLinux(n) }

func isLinux(n *cluster.Node) bool { return n.OS == "" || n.OS == "linux" }

// PoolOf returns the index of the first pool whose selector matches; the last one is the default pool and matches every worker.
func PoolOf(spec *refitv1alpha1.ClusterUpgradeSpec, n *cluster.Node) int {
	for i := range spec.Pools {
		pool := &spec.Pools[i]
		if pool.Name == DefaultPool || HasLabels(n, pool.NodeSelector) {
			return i
		}
	}
	return len(spec.Pools) - 1
}

// MaxUnavailable resolves a pool's bound against its size: percentages round down, and at least one node may always go.
func MaxUnavailable(pool *refitv1alpha1.Pool, size int) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(pool.MaxUnavailable, size, false)
	if err != nil { // the API refuses such a value; a file may still hold one
		n = 1
	}
	return max(1, n)
}

// DrainOf is the pool's policy for a worker; control plane nodes are drained as the default pool says.
func DrainOf(spec *refitv1alpha1.ClusterUpgradeSpec, n *cluster.Node) *refitv1alpha1.Drain {
	if n.ControlPlane {
		return &spec.Pools[len(spec.Pools)-1].Drain
	}
	return &spec.Pools[PoolOf(spec, n)].Drain
}
