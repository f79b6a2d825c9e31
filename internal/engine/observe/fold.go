package observe

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const (
	annotationSafeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	labelTemplateHash     = "pod-template-hash"

	// finalizerJob is on every pod of a Job and is removed when the pod ends, so it blocks nothing.
	finalizerJob = "batch.kubernetes.io/job-tracking"

	// stuckAfter is how long a pod may exist after its grace period: the kubelet and the API need
	// some time to remove it.
	stuckAfter = time.Minute
)

// fold adds pods to workloads and nodes, one by one, and keeps nothing else of them.
type fold struct {
	obs    *observation
	places map[entry]int // index into Snapshot.Workloads
	seen   int
}

// owner is the controller whose pods are counted together.
type owner struct{ namespace, kind, name string }

// entry are the pods of an owner that the same PDBs cover. They may differ within an owner: some
// databases have one PDB for the leader and another for the rest.
type entry struct {
	owner
	budgets string // comma-separated names
}

func (f *fold) add(p *corev1.Pod) {
	f.seen++
	if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return // a completed pod is not evicted, and no PDB counts it
	}
	place := f.place(ownerOf(p), f.matchBudgets(p))
	w := &f.obs.snapshot.Workloads[place]
	w.Pods++
	if isReady(p) {
		w.Ready++
	}
	if p.DeletionTimestamp != nil { // the end of the grace period, not the time of the request
		w.Terminating++
		if f.obs.meter.now().After(p.DeletionTimestamp.Add(stuckAfter)) {
			w.Stuck++
		}
	}
	f.describe(w, p)
	// Nil for a pending pod, and for a node that joined after the nodes were read.
	if n := f.obs.nodes[p.Spec.NodeName]; n != nil {
		addTo(n, place, p)
		f.obs.noteSystemPod(n, p)
	}
}

// place returns the index of the entry of an owner's pods that some PDBs cover.
func (f *fold) place(o owner, budgets []string) int {
	e := entry{o, strings.Join(budgets, ",")}
	place, known := f.places[e]
	if !known {
		place = len(f.obs.snapshot.Workloads)
		f.places[e] = place
		f.obs.snapshot.Workloads = append(f.obs.snapshot.Workloads, cluster.Workload{Namespace: o.namespace, Kind: o.kind, Name: o.name, Budgets: budgets})
	}
	return place
}

// ownerOf returns the owner of a pod. For a ReplicaSet of a Deployment it is the Deployment, so
// that a rollout does not make two workloads of one; its name follows from that of the ReplicaSet,
// which ends with the hash in the labels of the pod. Static pods of one name, such as all
// kube-apiservers, count together.
func ownerOf(p *corev1.Pod) owner {
	if isMirror(p) {
		return owner{p.Namespace, "Node", strings.TrimSuffix(p.Name, "-"+p.Spec.NodeName)}
	}
	controller := metav1.GetControllerOf(p)
	if controller == nil {
		return owner{p.Namespace, "Pod", p.Name}
	}
	if hash := p.Labels[labelTemplateHash]; controller.Kind == "ReplicaSet" && hash != "" {
		if deployment, found := strings.CutSuffix(controller.Name, "-"+hash); found {
			return owner{p.Namespace, "Deployment", deployment}
		}
	}
	return owner{p.Namespace, controller.Kind, controller.Name}
}

// isMirror reports whether a pod is the mirror pod of a static pod.
func isMirror(p *corev1.Pod) bool {
	_, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// matchBudgets returns the names of the PDBs that cover a pod.
func (f *fold) matchBudgets(p *corev1.Pod) []string {
	var names []string
	for _, s := range f.obs.selectors[p.Namespace] {
		if s.Matches(labels.Set(p.Labels)) {
			b := &f.obs.snapshot.Budgets[s.budget]
			b.Matched++
			names = append(names, b.Name)
		}
	}
	return names
}

// describe adds the properties of a pod to its workload: the maximum of amounts, the union of
// properties, and the intersection of tolerations.
func (f *fold) describe(w *cluster.Workload, p *corev1.Pod) {
	switch {
	case !w.Moves(): // nobody places its pods elsewhere
	case w.Pods == 1:
		w.Tolerations = tolerationsOf(&p.Spec)
	case len(w.Tolerations) > 0:
		own := tolerationsOf(&p.Spec)
		w.Tolerations = slices.DeleteFunc(w.Tolerations, func(t cluster.Toleration) bool { return !slices.Contains(own, t) })
	}
	request := requestOf(&p.Spec)
	w.Request.MilliCPU, w.Request.Memory = max(w.Request.MilliCPU, request.MilliCPU), max(w.Request.Memory, request.Memory)
	if p.Spec.Priority != nil {
		w.Priority = max(w.Priority, *p.Spec.Priority)
	}
	if p.Spec.TerminationGracePeriodSeconds != nil {
		w.GraceSeconds = max(w.GraceSeconds, *p.Spec.TerminationGracePeriodSeconds)
	}
	for _, name := range p.Finalizers {
		if name != finalizerJob {
			w.Finalizers = include(w.Finalizers, name)
		}
	}
	switch p.Annotations[annotationSafeToEvict] {
	case "false":
		w.SafeToEvict = cluster.No
	case "true":
		if w.SafeToEvict == cluster.Unknown {
			w.SafeToEvict = cluster.Yes
		}
	}
	// Every pod of a DaemonSet is bound to its node, and is never evicted.
	w.NodeBound = w.NodeBound || w.Kind != "DaemonSet" && boundToNode(&p.Spec)
	for i := range p.Spec.Volumes {
		f.describeVolume(w, p.Namespace, &p.Spec.Volumes[i])
	}
}

func (f *fold) describeVolume(w *cluster.Workload, namespace string, v *corev1.Volume) {
	// A hostPath does not bind a pod: most are sockets, which every node has.
	switch kind := volumeKind(&v.VolumeSource); {
	case kind == "emptyDir": // nothing keeps data in memory
		w.LocalData = w.LocalData || v.EmptyDir.Medium != corev1.StorageMediumMemory
	case kind == "persistentVolumeClaim" && f.obs.local[namespace+"/"+v.PersistentVolumeClaim.ClaimName]:
		w.LocalVolume = true
	case kind != "" && !supportedVolumes[kind]:
		w.VolumeKinds = include(w.VolumeKinds, kind)
	}
}

// addTo counts a pod on its node. It searches from the end, since the pods of a workload are mostly
// listed together.
func addTo(n *cluster.Node, place int, p *corev1.Pod) {
	for i := len(n.Pods) - 1; i >= 0; i-- {
		if n.Pods[i].Workload == place {
			countIn(&n.Pods[i], p)
			return
		}
	}
	n.Pods = append(n.Pods, cluster.PodSet{Workload: place})
	countIn(&n.Pods[len(n.Pods)-1], p)
}

func countIn(set *cluster.PodSet, p *corev1.Pod) {
	set.Count++
	switch {
	// The eviction API ignores PDBs for these.
	case p.Status.Phase == corev1.PodPending || p.DeletionTimestamp != nil:
		set.Free++
	case !isReady(p):
		set.Unready++
	}
}

// include adds a word to a short list if it is missing.
func include(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}
