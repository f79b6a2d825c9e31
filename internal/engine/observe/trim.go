package observe

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Trim removes the fields that a World does not use, for a cache of thousands of objects. It is a
// cache.TransformFunc.
func Trim(object any) (any, error) {
	if o, err := meta.Accessor(object); err == nil {
		o.SetManagedFields(nil)
	}
	switch o := object.(type) {
	case *corev1.Node:
		trimNode(o)
	case *refitv1alpha1.NodeUpgrade:
		if o.Status.Error != nil {
			o.Status.Error.LogTail = ""
		}
	}
	return object, nil
}

// trimNode keeps what Node uses. It drops heartbeats, which are most of the updates of kubelets.
func trimNode(n *corev1.Node) {
	n.Annotations = marksOf(n.Annotations)
	n.Spec = corev1.NodeSpec{Taints: n.Spec.Taints, Unschedulable: n.Spec.Unschedulable}
	info := n.Status.NodeInfo
	n.Status = corev1.NodeStatus{
		Addresses: n.Status.Addresses, Allocatable: n.Status.Allocatable, Conditions: n.Status.Conditions,
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion: info.KubeletVersion, ContainerRuntimeVersion: info.ContainerRuntimeVersion, OperatingSystem: info.OperatingSystem,
			OSImage: info.OSImage, Architecture: info.Architecture, KernelVersion: info.KernelVersion,
		},
	}
	for i, c := range n.Status.Conditions {
		n.Status.Conditions[i] = corev1.NodeCondition{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime}
	}
}

// marksOf are the annotations that mark a node as cordoned or protected. The map is a
// new one, since one whose entries were deleted keeps its memory.
func marksOf(annotations map[string]string) map[string]string {
	var out map[string]string
	for _, name := range []string{refitv1alpha1.AnnotationCordonedBy, refitv1alpha1.AnnotationProtectedBy} {
		if value := annotations[name]; value != "" {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = value
		}
	}
	return out
}
