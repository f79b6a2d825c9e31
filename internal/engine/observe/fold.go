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

	// finalizerJob is on every pod of a Job and goes by itself when the pod ends, so it holds nobody up.
	finalizerJob = "batch.kubernetes.io/job-tracking"

	// stuckAfter is how long a pod may outlive its time to end: the kubelet and the API need a moment to tell that it is gone.
	stuckAfter = time.Minute
)

// fold adds pods to workloads and nodes, one at a time, and keeps nothing else of them.
type fold struct {
	g      *gathering
	places map[entry]int // index into Snapshot.Workloads
	seen   int
}

// owner is whose pods are counted together.
type owner struct{ namespace, kind, name string }

// entry is pods of an owner that the same budgets cover. Those of one owner may differ: some databases label the pod that leads, and have one
// budget for it and another for the rest.
type entry struct {
	owner
	budgets string // their names
}

func (f *fold) add(p *corev1.Pod) {
	f.seen++
	if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return // it has ended: nobody has to move it, and no budget counts it
	}
	place := f.place(ownerOf(p), f.matchBudgets(p))
	w := &f.g.snapshot.Workloads[place]
	w.Pods++
	if isReady(p) {
		w.Ready++
	}
	if p.DeletionTimestamp != nil { // when its time to end is over, and not when it was asked to
		w.Terminating++
		if f.g.meter.now().After(p.DeletionTimestamp.Add(stuckAfter)) {
			w.Stuck++
		}
	}
	f.describe(w, p)
	if n := f.g.nodes[p.Spec.NodeName]; n != nil { // a pod that waits for a node, or whose node came after we looked, is on none
		addTo(n, place, p)
		f.g.noteSystemPod(n, p)
	}
}

// place finds or makes the entry of an owner's pods that some budgets cover.
func (f *fold) place(o owner, budgets []string) int {
	e := entry{o, strings.Join(budgets, ",")}
	place, known := f.places[e]
	if !known {
		place = len(f.g.snapshot.Workloads)
		f.places[e] = place
		f.g.snapshot.Workloads = append(f.g.snapshot.Workloads, cluster.Workload{Namespace: o.namespace, Kind: o.kind, Name: o.name, Budgets: budgets})
	}
	return place
}

// ownerOf finds whose pod it is. A ReplicaSet of a Deployment stands for the Deployment, since an upgrade of that must not make two workloads of
// one; its name is known without asking for each ReplicaSet, because it ends in the hash that the pod carries as a label.
// Static pods of one name, such as all kube-apiservers, count together.
func ownerOf(p *corev1.Pod) owner {
	if isMirror(p) {
		return owner{p.Namespace, "Node", strings.TrimSuffix(p.Name, "-"+p.Spec.NodeName)}
	}
	controller := metav1.GetControllerOf(p)
	if controller == nil {
		return owner{p.Namespace, "Pod", p.Name}
	}
	if hash := p.Labels[labelTemplateHash]; controller.Kind == "ReplicaSet" && hash != "" {
		if deployment, ours := strings.CutSuffix(controller.Name, "-"+hash); ours {
			return owner{p.Namespace, "Deployment", deployment}
		}
	}
	return owner{p.Namespace, controller.Kind, controller.Name}
}

// isMirror says whether the pod is the API's picture of a static pod.
func isMirror(p *corev1.Pod) bool {
	_, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// matchBudgets finds the names of the budgets that cover a pod.
func (f *fold) matchBudgets(p *corev1.Pod) []string {
	var names []string
	for _, s := range f.g.selectors[p.Namespace] {
		if s.Matches(labels.Set(p.Labels)) {
			b := &f.g.snapshot.Budgets[s.budget]
			b.Matched++
			names = append(names, b.Name)
		}
	}
	return names
}

// describe notes what one pod adds to the picture of its workload: of amounts the largest, of properties any.
func (f *fold) describe(w *cluster.Workload, p *corev1.Pod) {
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
	// Every pod of a DaemonSet is bound to its node, and none is ever moved.
	w.NodeBound = w.NodeBound || w.Kind != "DaemonSet" && boundToNode(&p.Spec)
	for i := range p.Spec.Volumes {
		f.describeVolume(w, p.Namespace, &p.Spec.Volumes[i])
	}
}

func (f *fold) describeVolume(w *cluster.Workload, namespace string, v *corev1.Volume) {
	switch kind := volumeKind(&v.VolumeSource); { // a hostPath binds nobody: most are sockets and the like, which every node has
	case kind == "emptyDir":
		w.LocalData = true
	case kind == "persistentVolumeClaim" && f.g.local[namespace+"/"+v.PersistentVolumeClaim.ClaimName]:
		w.LocalVolume = true
	case kind != "" && !lasting[kind]:
		w.VolumeKinds = include(w.VolumeKinds, kind)
	}
}

// addTo counts a pod on its node. Pods of a workload come one after the other, mostly, so its entry is looked for from the end.
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
	case p.Status.Phase == corev1.PodPending || p.DeletionTimestamp != nil: // for these the eviction API asks no budget
		set.Free++
	case !isReady(p):
		set.Unready++
	}
}

// include adds a word to a short list unless it is there.
func include(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}
