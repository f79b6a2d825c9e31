package cluster

import (
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// autoscalerAnnotations keep an autoscaler from removing a node.
var autoscalerAnnotations = []string{refitv1alpha1.AnnotationScaleDownDisabled, refitv1alpha1.AnnotationDoNotDisrupt}

// Protect returns the annotations of a Node that autoscalers leave alone while an operation
// upgrades it. It records which annotations it adds: one that was there before stays as it is,
// also afterwards.
func Protect(annotations map[string]string, operation string) map[string]string {
	if annotations == nil {
		annotations = map[string]string{}
	}
	added := addedAnnotations(annotations)
	for _, name := range autoscalerAnnotations {
		if _, exists := annotations[name]; !exists {
			annotations[name] = "true"
			if !slices.Contains(added, name) {
				added = append(added, name)
			}
		}
	}
	annotations[refitv1alpha1.AnnotationProtectedBy] = operation
	if len(added) > 0 {
		annotations[refitv1alpha1.AnnotationProtectedWith] = strings.Join(added, ",")
	}
	return annotations
}

// Unprotect removes what Protect added, unless it was changed since.
func Unprotect(annotations map[string]string) {
	for _, name := range addedAnnotations(annotations) {
		if annotations[name] == "true" {
			delete(annotations, name)
		}
	}
	delete(annotations, refitv1alpha1.AnnotationProtectedBy)
	delete(annotations, refitv1alpha1.AnnotationProtectedWith)
}

// addedAnnotations are the annotations that Refit has added. Others that the list names are
// not Refit's.
func addedAnnotations(annotations map[string]string) []string {
	listed := strings.Split(annotations[refitv1alpha1.AnnotationProtectedWith], ",")
	return slices.DeleteFunc(listed, func(name string) bool { return !slices.Contains(autoscalerAnnotations, name) })
}
