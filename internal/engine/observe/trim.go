package observe

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Trim takes away what a World does not look at, for a cache that holds five thousand of these objects. It is a cache.TransformFunc.
func Trim(object any) (any, error) {
	if o, err := meta.Accessor(object); err == nil {
		o.SetManagedFields(nil)
	}
	switch o := object.(type) {
	case *corev1.Node:
		cordoned := o.Annotations[refitv1alpha1.AnnotationCordonedBy]
		o.Annotations = nil
		if cordoned != "" {
			o.Annotations = map[string]string{refitv1alpha1.AnnotationCordonedBy: cordoned}
		}
		o.Status.Images, o.Status.VolumesAttached, o.Status.VolumesInUse, o.Status.Config = nil, nil, nil, nil
	case *refitv1alpha1.NodeUpgrade:
		if o.Status.Error != nil {
			o.Status.Error.LogTail = ""
		}
	}
	return object, nil
}
