package preflight

import (
	"fmt"
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
)

func workloadName(w *cluster.Workload) string   { return w.Namespace + "/" + w.Name }
func workloadObject(w *cluster.Workload) string { return w.Kind + " " + workloadName(w) }

// costs collects what draining costs workloads, one entry for each owner: under the first of its entries that it costs something.
func (v *view) costs(kind disruption.CostKind) ([]int, map[int]*held) {
	found, first := map[int]*held{}, map[int]int{}
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
				found[at] = &held{workload: at}
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
			Message: fmt.Sprintf("%s belongs to nobody: draining %s ends it for good", workloadName(w), some(costs[i].nodes)),
			Remedy: fmt.Sprintf("If it is not needed: kubectl -n %s delete pod %s. Else let a Deployment or Job make it. To let the drain "+
				"end it, waive UnmanagedPod for it.",
				w.Namespace, w.Name),
		})
	}
	return found
}

// localDataLost is what an emptyDir is for, so it is worth a warning only where the owner keeps state by its nature.
func localDataLost(v *view) []Finding {
	var found []Finding
	keys, costs := v.costs(disruption.LosesData)
	for _, i := range keys {
		w := &v.s.Workloads[i]
		f := Finding{
			Object:  workloadObject(w),
			Message: fmt.Sprintf("%s has an emptyDir: its content on %s is lost when the pods move", workloadName(w), some(costs[i].nodes)),
			Remedy:  "Nothing needs to be done if it is a cache or scratch space. Else put it on a persistent volume.",
		}
		if w.Kind == "StatefulSet" {
			f.Severity = Warn
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
		why := "a volume on its disk"
		if w.NodeBound {
			why = "its node selector or affinity"
		}
		f := Finding{
			Severity: Info,
			Object:   workloadObject(w),
			Message: fmt.Sprintf("%s is bound to its node by %s: %s on %s may be down while the node is upgraded",
				workloadName(w), why, many(costs[i].pods, "pod"), some(costs[i].nodes)),
			Remedy: "Run replicas on several nodes, or tell its users about the gap.",
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
			Message: fmt.Sprintf("pods of %s on %s have the finalizer %s: the drain waits until its owner removes it",
				workloadName(w), some(costs[i].nodes), some(w.Finalizers)),
			Remedy: fmt.Sprintf("Make sure that the controller that removes %s runs.", some(w.Finalizers)),
		})
	}
	return found
}

func podNotSafeToEvict(v *view) []Finding {
	var found []Finding
	keys, costs := v.costs(disruption.AsksToStay)
	for _, i := range keys {
		w := &v.s.Workloads[i]
		found = append(found, Finding{
			Object: workloadObject(w),
			Message: fmt.Sprintf("%s says that it is not safe to evict (annotation safe-to-evict): draining %s moves it nevertheless",
				workloadName(w), some(costs[i].nodes)),
			Remedy: "Give it a PodDisruptionBudget if it must not be moved: drains respect budgets, and not this annotation.",
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
			Message: fmt.Sprintf("pods of %s were asked to end and have not, although their time for it is over (%d)", workloadName(w), owner.Stuck),
			Remedy: fmt.Sprintf("Find out what holds them: kubectl -n %s get pods; kubectl -n %s describe pod NAME. A drain "+
				"waits for them.",
				w.Namespace, w.Namespace),
		}
		if len(w.Finalizers) > 0 {
			f.Message += ", held by the finalizer " + some(w.Finalizers)
		}
		found = append(found, f)
	}
	return found
}

// singleReplica tells which workloads have a gap when their node is drained. That is normal for many, so it is no more than told.
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
		Message: fmt.Sprintf("workloads with one replica are away while they move to another node: %s", some(names)),
		Remedy:  "Run two replicas of what must not have a gap.",
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
				Remedy:  fmt.Sprintf("Find out why: kubectl -n kube-system get pods; kubectl -n kube-system describe %s %s", lower(w.Kind), w.Name),
			})
		}
	}
	return found
}

// gitRepoVolume: from 1.36 no kubelet can mount such a volume, whatever its gates.
func gitRepoVolume(v *view) []Finding {
	at, crosses := v.reaches(36)
	if !crosses {
		return nil
	}
	var found []Finding
	told, owners := map[int]bool{}, v.s.Owners()
	for i := range v.s.Workloads {
		if w := &v.s.Workloads[i]; slices.Contains(w.VolumeKinds, "gitRepo") && !told[owners[i].First] {
			told[owners[i].First] = true
			found = append(found, Finding{
				Object: workloadObject(w),
				Message: fmt.Sprintf("%s has a gitRepo volume, which %s does not mount any more: its pods would not start again",
					workloadName(w), at),
				Remedy: "Clone the repository in an init container into an emptyDir instead.",
			})
		}
	}
	return found
}

// goneVolumes are kinds of volumes that Kubernetes cannot mount and for which no CSI driver steps in, by the minor version that dropped them.
var goneVolumes = map[string]int{
	"flocker": 25, "quobyte": 25, "storageos": 25, "scaleIO": 22, "photonPersistentDisk": 16, "glusterfs": 26, "cephfs": 31, "rbd": 31,
}

func inTreeVolume(v *view) []Finding {
	var found []Finding
	for _, volume := range v.s.Volumes {
		f := Finding{
			Object: "PersistentVolume " + volume.Name,
			Remedy: "Move the data to a volume of a CSI driver, then remove this one.",
		}
		minor, gone := goneVolumes[volume.Kind]
		switch at, crosses := v.reaches(36); {
		case gone:
			f.Message = fmt.Sprintf("%s is of the kind %s, which Kubernetes cannot mount since 1.%d", volume.Name, volume.Kind, minor)
		case volume.Kind == "portworxVolume" && crosses:
			f.Message = fmt.Sprintf("%s is of the kind portworxVolume: from %s on only the CSI driver of Portworx can mount it", volume.Name, at)
			f.Remedy = "Make sure that the driver runs: kubectl get csidriver pxd.portworx.com"
		default:
			continue
		}
		found = append(found, f)
	}
	return found
}

// reaches returns the first hop that is at or above a minor version, if the control plane or a kubelet is below it now.
func (v *view) reaches(minor int) (hop, bool) {
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
