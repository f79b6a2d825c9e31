package helm

import (
	"maps"
	"slices"

	release "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	managedByLabel      = "app.kubernetes.io/managed-by"
	managedBy           = "Helm"
	nameAnnotation      = "meta.helm.sh/release-name"
	namespaceAnnotation = "meta.helm.sh/release-namespace"
	policyAnnotation    = "helm.sh/resource-policy"
	policyKeep          = "keep"
)

// owned returns copies of hooks that are marked as the release's. Helm marks only objects, so a
// sweep could delete an object of the same name that is not of the release.
func (r Release) owned(hooks []Object) []Object {
	marked := make([]Object, 0, len(hooks))
	for _, hook := range hooks {
		hook.Content = hook.Content.DeepCopy()
		annotate(hook.Content, map[string]string{nameAnnotation: r.Name, namespaceAnnotation: r.Namespace})
		labels := maps.Clone(hook.Content.GetLabels())
		if labels == nil {
			labels = map[string]string{}
		}
		labels[managedByLabel] = managedBy
		hook.Content.SetLabels(labels)
		marked = append(marked, hook)
	}
	return marked
}

// owns reports whether a live object is marked as the release's.
func (r Release) owns(live *unstructured.Unstructured) bool {
	annotations := live.GetAnnotations()
	return live.GetLabels()[managedByLabel] == managedBy && annotations[nameAnnotation] == r.Name && annotations[namespaceAnnotation] == r.Namespace
}

// foreign reports whether a live object is marked as another release's.
func (r Release) foreign(live *unstructured.Unstructured) bool {
	annotations := live.GetAnnotations()
	return annotations[nameAnnotation] != "" && !r.owns(live)
}

// otherRelease returns the namespace and the name of the other release that a live object is marked
// as a part of.
func (r Release) otherRelease(live *unstructured.Unstructured) string {
	if !r.foreign(live) {
		return ""
	}
	return live.GetAnnotations()[namespaceAnnotation] + "/" + live.GetAnnotations()[nameAnnotation]
}

func annotate(object *unstructured.Unstructured, values map[string]string) {
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, values)
	object.SetAnnotations(annotations)
}

// deleteLeftHooks deletes hooks of a killed or failed action that Helm does not delete before it
// creates them again. With client-side apply the repetition would fail; with server-side apply it
// would find the Job that failed.
func (s *session) deleteLeftHooks(ended *release.Release) error {
	for _, hook := range ended.Hooks {
		if len(hook.DeletePolicies) == 0 || slices.Contains(hook.DeletePolicies, release.HookBeforeHookCreation) || hook.LastRun.StartedAt.IsZero() {
			continue
		}
		objects, err := objectsOf(hook.Manifest, hook.Path, s.Namespace)
		if err != nil {
			return err
		}
		for _, object := range objects {
			if _, err := s.remove(object.Ref); err != nil {
				return err
			}
		}
	}
	return nil
}
