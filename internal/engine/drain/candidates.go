package drain

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const labelName = "app.kubernetes.io/name"

// defaultGrace is the grace period of a pod that sets none.
const defaultGrace = 30 * time.Second

// mustLeave reports whether a pod must leave before its node changes. A DaemonSet would recreate
// its pod at once, a mirror pod only represents a static one, Refit's controller may have no other
// node, and a pod that has ended does no work. But a pod that is being deleted counts until it is
// gone: its kubelet reports its end before its volumes are released.
func mustLeave(p *corev1.Pod) bool {
	if ended(p) && p.DeletionTimestamp == nil {
		return false
	}
	if _, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]; mirror || isRefit(p) {
		return false
	}
	controller := metav1.GetControllerOf(p)
	return controller == nil || controller.Kind != "DaemonSet"
}

// isRefit reports whether a pod is one of Refit, as cluster.Workload.Moves does.
func isRefit(p *corev1.Pod) bool { return cluster.IsRefit(p.Namespace, p.Labels[labelName]) }

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// unmanaged reports whether no controller recreates a pod.
func unmanaged(p *corev1.Pod) bool { return metav1.GetControllerOf(p) == nil }

// dataOwner returns the owner of a pod that may keep data in an emptyDir.
func dataOwner(p *corev1.Pod) (owner string, may bool) {
	controller := metav1.GetControllerOf(p)
	if controller == nil || !cluster.MayKeepData(controller.Kind) || !slices.ContainsFunc(p.Spec.Volumes, isEmptyDir) {
		return "", false
	}
	return controller.Kind + " " + p.Namespace + "/" + controller.Name, true
}

// isEmptyDir reports whether a volume is an emptyDir on a disk. Nothing keeps data in memory.
func isEmptyDir(v corev1.Volume) bool {
	return v.EmptyDir != nil && v.EmptyDir.Medium != corev1.StorageMediumMemory
}

// compareOrder compares two pods: lower priority first, and among equals the first pod of every
// owner before the second pod of any, so that no owner loses all of its pods while others keep
// theirs.
func compareOrder(a, b *pod) int {
	return cmp.Or(cmp.Compare(priority(a), priority(b)), cmp.Compare(a.turn, b.turn), compareKeys(a.key(), b.key()))
}

// evictionOrder returns the pods in the order of their eviction.
func evictionOrder(pods map[key]*pod) []*pod {
	ordered := make([]*pod, 0, len(pods))
	for _, p := range pods {
		ordered = append(ordered, p)
	}
	slices.SortFunc(ordered, func(a, b *pod) int { return compareKeys(a.key(), b.key()) })
	turns := map[types.UID]int{}
	for _, p := range ordered {
		owner := p.UID
		if controller := metav1.GetControllerOf(p); controller != nil {
			owner = controller.UID
		}
		p.turn = turns[owner]
		turns[owner]++
	}
	slices.SortFunc(ordered, compareOrder)
	return ordered
}

func priority(p *pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func gracePeriod(p *corev1.Pod) time.Duration {
	if p.Spec.TerminationGracePeriodSeconds == nil {
		return defaultGrace
	}
	return time.Duration(*p.Spec.TerminationGracePeriodSeconds) * time.Second
}

// trim keeps the fields of a pod that this package reads: on a large node, the rest would be
// megabytes.
func trim(p *corev1.Pod) *corev1.Pod {
	kept := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion, Labels: p.Labels, Finalizers: p.Finalizers,
			DeletionTimestamp: p.DeletionTimestamp,
		},
		Spec: corev1.PodSpec{
			NodeName: p.Spec.NodeName, Priority: p.Spec.Priority, TerminationGracePeriodSeconds: p.Spec.TerminationGracePeriodSeconds,
		},
		Status: corev1.PodStatus{Phase: p.Status.Phase},
	}
	if controller := metav1.GetControllerOf(p); controller != nil {
		kept.OwnerReferences = []metav1.OwnerReference{*controller}
	}
	if slices.ContainsFunc(p.Spec.Volumes, isEmptyDir) {
		kept.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	}
	if mirror, is := p.Annotations[corev1.MirrorPodAnnotationKey]; is {
		kept.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: mirror}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			kept.Status.Conditions = []corev1.PodCondition{{Type: c.Type, Status: c.Status}}
		}
	}
	return kept
}
