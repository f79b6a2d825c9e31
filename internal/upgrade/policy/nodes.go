package policy

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// The checks whose waivers change what a plan does.
const (
	CheckNodeNotReady = "NodeNotReady"        // the node is excluded, and not unavailable
	CheckNodeCordoned = "NodeCordonedByHand"  // the node does not count as unavailable
	CheckTwoMembers   = "EtcdTwoMembers"      // etcd may lose its quorum while a member restarts
	CheckHeldTwice    = "EndpointHeldTwice"   // more than one node may hold the endpoint's address
	CheckUnreachable  = "EndpointUnreachable" // the endpoint need not answer the node
	CheckUnmanaged    = "UnmanagedPod"        // a pod without a controller may be deleted
	CheckLocalData    = "LocalDataLost"       // data in an emptyDir may be deleted
	CheckBackup       = "BackupProven"        // the control plane may change without a proven backup
	CheckRehearsal    = "RehearsalUnknown"    // a question that a rehearsal could not answer may stay open

	CheckComponentsMissing = "ComponentsNotInstalled" // the components of ClusterReleases are not upgraded
)

// Waived reports whether a check is waived for this object by name.
func Waived(spec *refitv1alpha1.ClusterUpgradeSpec, check, object string) bool {
	return slices.ContainsFunc(spec.Waivers, func(w refitv1alpha1.Waiver) bool { return w.Check == check && w.Object == object })
}

// WaivedAnywhere reports whether a check is waived, for one object or for all.
func WaivedAnywhere(spec *refitv1alpha1.ClusterUpgradeSpec, check string) bool {
	return slices.ContainsFunc(spec.Waivers, func(w refitv1alpha1.Waiver) bool { return w.Check == check })
}

// MayDelete reports whether a pod without a controller may be deleted: nothing recreates it.
func MayDelete(spec *refitv1alpha1.ClusterUpgradeSpec, namespace, name string) bool {
	return Waived(spec, CheckUnmanaged, "") || Waived(spec, CheckUnmanaged, "Pod "+namespace+"/"+name)
}

// MayLoseData reports whether the pods of an owner, such as StatefulSet shop/db, may lose the data
// in their emptyDir volumes.
func MayLoseData(spec *refitv1alpha1.ClusterUpgradeSpec, owner string) bool {
	return Waived(spec, CheckLocalData, "") || Waived(spec, CheckLocalData, owner)
}

// NodeObject is how findings and waivers name a node.
func NodeObject(name string) string { return "Node " + name }

// Abandoned reports whether the user has given up a node.
func Abandoned(spec *refitv1alpha1.ClusterUpgradeSpec, node string) bool {
	return slices.Contains(spec.AbandonedNodes, node)
}

// Exclusion is why the plan does not upgrade a node, empty if it does.
func Exclusion(spec *refitv1alpha1.ClusterUpgradeSpec, n *cluster.Node) string {
	switch {
	case Abandoned(spec, n.Name):
		return "it was abandoned"
	case n.ControlPlane && spec.Scope == refitv1alpha1.ScopeWorkers:
		return "the scope is Workers"
	case n.ControlPlane:
		return ""
	case spec.Scope == refitv1alpha1.ScopeControlPlane:
		return "the scope is ControlPlane"
	case !HasLabels(n, spec.NodeSelector):
		return fmt.Sprintf("the node selector %s does not match", labels.Set(spec.NodeSelector))
	case !isLinux(n):
		return fmt.Sprintf("the operating system is %s, and Refit upgrades only Linux hosts", n.OS)
	case !n.IsReady() && Waived(spec, CheckNodeNotReady, NodeObject(n.Name)):
		return "not ready, which is waived"
	}
	return ""
}

// HasLabels reports whether a node has all of these labels.
func HasLabels(n *cluster.Node, want refitv1alpha1.Labels) bool {
	for key, value := range want {
		if has, ok := n.Labels[key]; !ok || has != value {
			return false
		}
	}
	return true
}

// Pooled reports whether a node counts in its pool: workers do, excluded ones too, but not hosts
// that Refit cannot upgrade.
func Pooled(n *cluster.Node) bool { return !n.ControlPlane && isLinux(n) }

func isLinux(n *cluster.Node) bool { return n.OS == "" || n.OS == "linux" }

// PoolOf returns the index of the first pool whose selector matches. The last pool is the default
// pool, which matches every worker.
func PoolOf(spec *refitv1alpha1.ClusterUpgradeSpec, n *cluster.Node) int {
	for i := range spec.Pools {
		pool := &spec.Pools[i]
		if pool.Name == DefaultPool || HasLabels(n, pool.NodeSelector) {
			return i
		}
	}
	return len(spec.Pools) - 1
}

// MaxUnavailable resolves a pool's limit against its size. Percentages round down to at least 1.
func MaxUnavailable(pool *refitv1alpha1.Pool, size int) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(pool.MaxUnavailable, size, false)
	if err != nil { // the API rejects such a value, but a file may contain one
		n = 1
	}
	return max(1, n)
}

// DrainOf is the drain policy of a node. Control plane nodes use that of the default pool.
func DrainOf(spec *refitv1alpha1.ClusterUpgradeSpec, n *cluster.Node) *refitv1alpha1.Drain {
	if n.ControlPlane {
		return &spec.Pools[len(spec.Pools)-1].Drain
	}
	return &spec.Pools[PoolOf(spec, n)].Drain
}
