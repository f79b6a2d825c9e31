//go:build apiserver

package install

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/internal/engine/object"
	"github.com/refit-dev/refit/test/apiserver"
)

// components is the image of refit-components.
const components = "registry.example/refit-components:v0.1.0"

// usedComponents creates a Component with a finalizer, a chart, the record of a Helm release, and a
// freeze that was not lifted.
func (b *bed) usedComponents(t *testing.T) {
	t.Helper()
	component := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "refit.dev/v1alpha1", "kind": "Component", "metadata": map[string]any{"name": "liqo", "finalizers": []any{"refit.dev/component"}},
	}}
	kind := schema.GroupVersionResource{Group: "refit.dev", Version: "v1alpha1", Resource: "components"}
	_, err := b.objects.Resource(kind).Create(t.Context(), component, metav1.CreateOptions{})
	must(t, err)
	chart := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "refit-chart-0123"}, Immutable: new(true)}
	_, err = b.client.CoreV1().ConfigMaps("refit-components").Create(t.Context(), chart, metav1.CreateOptions{})
	must(t, err)
	_, err = b.client.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "sh.helm.release.v1.liqo.v1"}, Type: "helm.sh/release.v1",
	}, metav1.CreateOptions{})
	must(t, err)
	digest := "sha256:" + strings.Repeat("0", 64)
	order := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "refit.dev/v1alpha1", "kind": "ComponentUpgrade", "metadata": map[string]any{"name": "liqo"},
		"spec": map[string]any{
			"operation": map[string]any{"name": "upgrade", "uid": "00000000-0000-0000-0000-000000000000"}, "sequence": int64(1), "epoch": int64(1),
			"release": map[string]any{"name": "release", "digest": digest}, "version": "v1.2.0", "action": "Upgrade", "kubernetes": "v1.36.3",
			"digest": digest, "permit": "Apply",
		},
	}}
	kind.Resource = "componentupgrades"
	_, err = b.objects.Resource(kind).Create(t.Context(), order, metav1.CreateOptions{})
	must(t, err)
	freezer, err := client.New(b.RESTConfig(), client.Options{})
	must(t, err)
	must(t, (&object.Freezer{Client: freezer, Username: "somebody", Namespace: "refit-components", Manager: "refit-components"}).Freeze(t.Context(), "liqo",
		refitv1alpha1.RecipeFreeze{Deny: refitv1alpha1.RecipeDeny{Operations: []string{"CREATE"}, Resources: []string{"foreignclusters.core.liqo.io"}}}))
}

// freezes counts the objects of freezes.
func (b *bed) freezes(t *testing.T) int {
	t.Helper()
	only := metav1.ListOptions{LabelSelector: refitv1alpha1.LabelFreeze}
	policies, err := b.client.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(t.Context(), only)
	must(t, err)
	bindings, err := b.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(t.Context(), only)
	must(t, err)
	return len(policies.Items) + len(bindings.Items)
}

// refit-components is installed on request, kept, and removed on request. Its namespace, with the
// charts, stays: only a removal of Refit deletes it.
func TestComponentsAreInstalledOnRequest(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		b := newBed(t, version)
		b.apply(t, options(), false)
		_, err := b.client.CoreV1().Namespaces().Get(t.Context(), "refit-components", metav1.GetOptions{})
		must(t, err)
		exists := func() bool {
			existing, err := b.Existing(t.Context())
			must(t, err)
			return existing.Components
		}
		if exists() {
			t.Error("it is there without a request")
		}
		with := options()
		with.Components = components
		added := len(render(t, with)) - len(render(t, options()))
		if _, counts := b.apply(t, with, false); counts[install.Created] != added || counts[install.Changed]+counts[install.Removed] > 0 || !exists() {
			t.Errorf("%v, want %d created", counts, added)
		}
		if _, counts := b.apply(t, with, false); counts[install.Unchanged] != len(render(t, with)) {
			t.Errorf("the second time: %v", counts)
		}
		b.fits(t)
		b.usedComponents(t)
		changes, counts := b.apply(t, options(), false)
		if counts[install.Removed] != added || exists() {
			t.Errorf("without it: %v", changes)
		}
		left := b.labeled(t)
		for object := range left {
			if strings.Contains(object, "refit-components") && !slices.Contains([]string{
				"namespaces /refit-components", "validatingadmissionpolicies /refit-components", "validatingadmissionpolicybindings /refit-components",
				"validatingadmissionpolicies /refit-components-namespace", "validatingadmissionpolicybindings /refit-components-namespace",
			}, object) {
				t.Errorf("%s is left", object)
			}
		}
		_, err = b.client.CoreV1().ConfigMaps("refit-components").Get(t.Context(), "refit-chart-0123", metav1.GetOptions{})
		must(t, err)
	})
}

// fits proves that Pod Security restricted admits the pods.
func (b *bed) fits(t *testing.T) {
	t.Helper()
	deployment, err := b.client.AppsV1().Deployments("refit-components").Get(t.Context(), "refit-components", metav1.GetOptions{})
	must(t, err)
	pod := &corev1.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec}
	pod.Name, pod.Namespace = "components", "refit-components"
	if err := try(t, b.client, pod); err != nil {
		t.Errorf("the pod of refit-components: %v", err)
	}
}
