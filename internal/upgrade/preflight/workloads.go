package preflight

import (
	"fmt"
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
)

func workloadName(w *cluster.Workload) string   { return w.Namespace + "/" + w.Name }
func workloadObject(w *cluster.Workload) string { return w.Kind + " " + workloadName(w) }

// costs collects what draining costs workloads, keyed by the first affected entry of each owner.
func (v *view) costs(kind disruption.CostKind) ([]int, map[int]*impact) {
	found, first := map[int]*impact{}, map[int]int{}
	owners := v.s.Owners()
	var keys []int
	for i := range v.nodes {
		n := &v.nodes[i]
		if !n.drained {
			continue
		}
		for _, c := range n.moves.Costs {
			if c.Kind != kind {
				continue
			}
			owner := owners[c.Workload].First
			at, known := first[owner]
			if !known {
				at = c.Workload
				first[owner] = at
				found[at] = &impact{workload: at}
				keys = append(keys, at)
			}
			h := found[at]
			if last := len(h.nodes) - 1; last < 0 || h.nodes[last] != n.Name {
				h.nodes = append(h.nodes, n.Name)
			}
			h.pods += c.Pods
		}
	}
	slices.Sort(keys)
	return keys, found
}

func unmanagedPod(v *view) []Finding {
	var found []Finding
	keys, costs := v.costs(disruption.Lost)
	for _, i := range keys {
		w := &v.s.Workloads[i]
		found = append(found, Finding{
			Object:  workloadObject(w),
			Message: fmt.Sprintf("%s has no controller: draining %s deletes it permanently", workloadName(w), joinNames(costs[i].nodes)),
			Remedy: fmt.Sprintf("Delete the pod if you do not need it: `kubectl -n %s delete pod %s`. Otherwise run it with a Deployment or Job. To let "+
				"the drain delete it, waive UnmanagedPod for it.",
				w.Namespace, w.Name),
		})
	}
	return found
}

// localDataLost is Info for the workloads of Kubernetes that are interchangeable by design. The
// pods of a StatefulSet or of another controller may keep data in an emptyDir.
func localDataLost(v *view) []Finding {
	var found []Finding
	keys, costs := v.costs(disruption.LosesData)
	for _, i := range keys {
		w := &v.s.Workloads[i]
		f := Finding{
			Object:  workloadObject(w),
			Message: fmt.Sprintf("%s uses an emptyDir volume: its data on %s is lost when the pods are evicted", workloadName(w), joinNames(costs[i].nodes)),
			Remedy:  "No action is required for caches and scratch space. Otherwise, use a PersistentVolume.",
		}
		if w.MayKeepData() {
			f.Severity = Block
			f.Remedy = fmt.Sprintf("Move data that must survive to a PersistentVolume. If the volume is scratch space, waive LocalDataLost for %q.", f.Object)
		}
		found = append(found, f)
	}
	return found
}

func podNodeBound(v *view) []Finding {
	var found []Finding
	keys, costs := v.costs(disruption.StaysDown)
	owners := v.s.Owners()
	for _, i := range keys {
		w := &v.s.Workloads[i]
		why := "a local volume"
		if w.NodeBound {
			why = "its node selector or affinity"
		}
		f := Finding{
			Severity: Info,
			Object:   workloadObject(w),
			Message: fmt.Sprintf("%s is bound to its node by %s: %s on %s may be unavailable during the upgrade of the node",
				workloadName(w), why, plural(costs[i].pods, "pod"), joinNames(costs[i].nodes)),
			Remedy: "Run replicas on several nodes, or announce the downtime to its users.",
		}
		if owners[i].Pods == 1 {
			f.Severity = Warn
		}
		found = append(found, f)
	}
	return found
}

func podHasFinalizer(v *view) []Finding {
	var found []Finding
	keys, costs := v.costs(disruption.HasFinalizer)
	for _, i := range keys {
		w := &v.s.Workloads[i]
		found = append(found, Finding{
			Object: workloadObject(w),
			Message: fmt.Sprintf("pods of %s on %s have the finalizer %s: the drain waits until a controller removes it",
				workloadName(w), joinNames(costs[i].nodes), joinNames(w.Finalizers)),
			Remedy: fmt.Sprintf("Make sure that the controller that removes %s is running.", joinNames(w.Finalizers)),
		})
	}
	return found
}

func podNotSafeToEvict(v *view) []Finding {
	var found []Finding
	keys, costs := v.costs(disruption.NotSafeToEvict)
	for _, i := range keys {
		w := &v.s.Workloads[i]
		found = append(found, Finding{
			Object: workloadObject(w),
			Message: fmt.Sprintf("%s is annotated as not safe to evict (safe-to-evict: false), but draining %s evicts it",
				workloadName(w), joinNames(costs[i].nodes)),
			Remedy: "If it must not be evicted, create a PodDisruptionBudget: drains respect PDBs, but not this annotation.",
		})
	}
	return found
}

func podStuckTerminating(v *view) []Finding {
	var found []Finding
	for i, owner := range v.s.Owners() {
		w := &v.s.Workloads[i]
		if owner.Stuck == 0 || owner.First != i {
			continue
		}
		f := Finding{
			Object:  workloadObject(w),
			Message: fmt.Sprintf("pods of %s are stuck in Terminating past their grace period (%d)", workloadName(w), owner.Stuck),
			Remedy: fmt.Sprintf("Find out what blocks their deletion: `kubectl -n %s get pods; kubectl -n %s describe pod NAME`. A drain waits for "+
				"them.",
				w.Namespace, w.Namespace),
		}
		if len(w.Finalizers) > 0 {
			f.Message += ", blocked by the finalizer " + joinNames(w.Finalizers)
		}
		found = append(found, f)
	}
	return found
}

// singleReplica is one Info finding for all workloads, because single replicas are common.
func singleReplica(v *view) []Finding {
	var names []string
	owners := v.s.Owners()
	for i := range v.nodes {
		n := &v.nodes[i]
		if !n.drained {
			continue
		}
		for _, set := range n.Pods {
			if set.Workload < 0 || set.Workload >= len(v.s.Workloads) {
				continue
			}
			w := &v.s.Workloads[set.Workload]
			if owners[set.Workload].Pods == 1 && (w.Kind == "Deployment" || w.Kind == "StatefulSet" || w.Kind == "ReplicaSet") {
				names = append(names, workloadName(w))
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return []Finding{{
		Message: fmt.Sprintf("workloads with one replica are unavailable while they move to another node: %s", joinNames(names)),
		Remedy:  "Run at least two replicas of workloads that must stay available.",
	}}
}

func systemPodsNotReady(v *view) []Finding {
	var found []Finding
	for i, owner := range v.s.Owners() {
		w := &v.s.Workloads[i]
		if owner.First == i && w.Namespace == "kube-system" && w.Kind != "Node" && w.Kind != "Job" && owner.Ready < owner.Pods-owner.Terminating {
			found = append(found, Finding{
				Object:  workloadObject(w),
				Message: fmt.Sprintf("%d of %d pods of %s are ready", owner.Ready, owner.Pods, workloadName(w)),
				Remedy: fmt.Sprintf("Find out why pods are not ready: `kubectl -n kube-system get pods; kubectl -n kube-system describe %s %s`",
					lower(w.Kind), w.Name),
			})
		}
	}
	return found
}

// gitRepoVolume: no kubelet from 1.36 on can mount such a volume, regardless of feature gates.
func gitRepoVolume(v *view) []Finding {
	at, crosses := v.crosses(36)
	if !crosses {
		return nil
	}
	var found []Finding
	seen, owners := map[int]bool{}, v.s.Owners()
	for i := range v.s.Workloads {
		if w := &v.s.Workloads[i]; slices.Contains(w.VolumeKinds, "gitRepo") && !seen[owners[i].First] {
			seen[owners[i].First] = true
			found = append(found, Finding{
				Object: workloadObject(w),
				Message: fmt.Sprintf("%s uses a gitRepo volume, which %s cannot mount: its pods would not start",
					workloadName(w), at),
				Remedy: "Clone the repository into an emptyDir volume with an init container instead.",
			})
		}
	}
	return found
}

// removedVolumes are in-tree volume types without CSI migration, by the minor version that removed
// them.
var removedVolumes = map[string]int{
	"flocker": 25, "quobyte": 25, "storageos": 25, "scaleIO": 22, "photonPersistentDisk": 16, "glusterfs": 26, "cephfs": 31, "rbd": 31,
}

func inTreeVolume(v *view) []Finding {
	var found []Finding
	for _, volume := range v.s.Volumes {
		f := Finding{
			Object: "PersistentVolume " + volume.Name,
			Remedy: "Migrate the data to a volume of a CSI driver, then delete this one.",
		}
		minor, gone := removedVolumes[volume.Kind]
		switch at, crosses := v.crosses(36); {
		case gone:
			f.Message = fmt.Sprintf("%s has volume type %s, which Kubernetes removed in 1.%d", volume.Name, volume.Kind, minor)
		case volume.Kind == "portworxVolume" && crosses:
			f.Message = fmt.Sprintf("%s has volume type portworxVolume: from %s on, only the Portworx CSI driver can mount it", volume.Name, at)
			f.Remedy = "Make sure that the driver is installed: `kubectl get csidriver pxd.portworx.com`"
		default:
			continue
		}
		found = append(found, f)
	}
	return found
}

// crosses returns the first hop at or above a minor version, if the control plane or a kubelet is
// below it now.
func (v *view) crosses(minor int) (hop, bool) {
	if v.Path.From.Minor >= minor && !v.anyKubeletBelow(minor) {
		return hop{}, false
	}
	for _, h := range v.hops {
		if h.version.Minor >= minor {
			return h, true
		}
	}
	return hop{}, false
}

func (v *view) anyKubeletBelow(minor int) bool {
	return slices.ContainsFunc(v.nodes, func(n node) bool { return n.touched && n.kubelet.Minor < minor })
}
