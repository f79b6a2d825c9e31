package steps

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/refit-dev/refit/internal/engine/helm"
)

func TestImagesOfPodsThatHaveEnded(t *testing.T) {
	workload := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "queue"},
		"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": "queue"}}},
	}}
	rendering := helm.Rendering{Objects: []helm.Object{{Content: workload}}, Images: []string{"registry.test/queue:2"}}
	for phase, fails := range map[corev1.PodPhase]bool{corev1.PodRunning: true, corev1.PodPending: true, corev1.PodFailed: false, corev1.PodSucceeded: false} {
		old := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "old", Namespace: "queue", Labels: map[string]string{"app": "queue"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Image: "registry.test/queue:1"}}}, Status: corev1.PodStatus{Phase: phase},
		}
		r := runOf("1")
		r.client, r.Component.Release.Namespace = fake.NewClientBuilder().WithObjects(old).Build(), "queue"
		err := r.images(t.Context(), rendering)
		if _, other := errors.AsType[*otherImageError](err); other != fails {
			t.Errorf("%s: %v", phase, err)
		}
	}
}

// TestImagesOfInjectedContainers: a service mesh adds containers that no chart has.
func TestImagesOfInjectedContainers(t *testing.T) {
	workload := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "queue"},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "queue"}},
			"template": map[string]any{"spec": map[string]any{
				"initContainers": []any{map[string]any{"name": "prepare"}}, "containers": []any{map[string]any{"name": "queue"}},
			}},
		},
	}}
	rendering := helm.Rendering{Objects: []helm.Object{{Content: workload}}, Images: []string{"registry.test/queue:2"}}
	for situation, c := range map[string]struct {
		init, containers []corev1.Container
		fails            bool
	}{
		"injected":           {nil, []corev1.Container{{Name: "queue", Image: "registry.test/queue:2"}, {Name: "proxy", Image: "mesh.test/proxy:1"}}, false},
		"injected before":    {[]corev1.Container{{Name: "route", Image: "mesh.test/route:1"}}, []corev1.Container{{Name: "queue", Image: "registry.test/queue:2"}}, false},
		"old and injected":   {nil, []corev1.Container{{Name: "queue", Image: "registry.test/queue:1"}, {Name: "proxy", Image: "mesh.test/proxy:1"}}, true},
		"old init container": {[]corev1.Container{{Name: "prepare", Image: "registry.test/queue:1"}}, []corev1.Container{{Name: "queue", Image: "registry.test/queue:2"}}, true},
		"a pod of others":    {nil, []corev1.Container{{Name: "other", Image: "registry.test/other:1"}}, true},
	} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "queue", Labels: map[string]string{"app": "queue"}},
			Spec:       corev1.PodSpec{InitContainers: c.init, Containers: c.containers},
		}
		r := runOf("1")
		r.client, r.Component.Release.Namespace = fake.NewClientBuilder().WithObjects(pod).Build(), "queue"
		err := r.images(t.Context(), rendering)
		if _, other := errors.AsType[*otherImageError](err); other != c.fails {
			t.Errorf("%s: %v", situation, err)
		}
	}
}
