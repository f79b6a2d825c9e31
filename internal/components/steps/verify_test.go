package steps

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
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

// TestAnObjectThatIsNotReadyForAWhileDuringTheSoak: a version that crashes again and again is ready
// in between, and nothing is rolled back after the verification.
func TestAnObjectThatIsNotReadyForAWhileDuringTheSoak(t *testing.T) {
	const soak, downAt, upAt = time.Minute, 30 * time.Second, 45 * time.Second
	crashing := false
	content := &unstructured.Unstructured{}
	content.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	content.SetName("queue")
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(content.GroupVersionKind(), meta.RESTScopeNamespace)
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		get := func(_ context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			ready := int64(1)
			at := time.Since(started)
			if crashing {
				at %= upAt
			}
			if at >= downAt && at < upAt {
				ready = 0
			}
			live := o.(*unstructured.Unstructured) //nolint:forcetypeassert // the editor reads nothing else
			live.SetGroupVersionKind(content.GroupVersionKind())
			live.SetNamespace(key.Namespace)
			live.SetName(key.Name)
			live.Object["spec"] = map[string]any{"replicas": int64(1)}
			live.Object["status"] = map[string]any{
				"replicas": int64(1), "updatedReplicas": int64(1), "readyReplicas": ready, "availableReplicas": ready,
				"conditions": []any{map[string]any{"type": "Available", "status": "True"}},
			}
			return nil
		}
		r := runOf("1")
		r.client = fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).WithInterceptorFuncs(interceptor.Funcs{Get: get}).Build()
		r.Component.Release.Namespace, r.Waiting = "queue", func(string) {}
		v := &refitv1alpha1.RecipeVerify{Ready: refitv1alpha1.VerifyAll, Soak: metav1.Duration{Duration: soak}}
		if err := r.staysHealthy(t.Context(), v, helm.Rendering{Objects: []helm.Object{{Content: content}}}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(started); took < upAt+soak {
			t.Errorf("it was verified after %s, although it was not ready until %s", took, upAt)
		}
		crashing = true
		ctx, cancel := context.WithTimeout(t.Context(), 10*soak)
		defer cancel()
		err := r.staysHealthy(ctx, v, helm.Rendering{Objects: []helm.Object{{Content: content}}})
		if failure := FailureOf(err); err == nil || !strings.Contains(failure.Message, "Deployment queue/queue") {
			t.Errorf("it crashes again and again, and the failure is %+v", failure)
		}
	})
}
