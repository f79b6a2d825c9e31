//go:build apiserver

package apiserver

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

func TestInstalledObjectsAreInEffectAtOnce(t *testing.T) {
	EachVersion(t, func(t *testing.T, version string) {
		s := sharedOf(t, version)
		client, err := dynamic.NewForConfig(s.RESTConfig())
		must(t, err)
		widgets := client.Resource(schema.GroupVersionResource{Group: "harness.example.com", Version: "v1", Resource: "widgets"}).Namespace("widgets")
		s.Install(t, "testdata/install")

		for _, tt := range []struct {
			situation  string
			size       int64
			color, say string
		}{
			{situation: "against the policy", size: 9, color: "red", say: "no red widgets"}, // first: it would detect late enforcement
			{situation: "against the CEL rule", size: 10, color: "green", say: "a widget is small"},
			{situation: "within the rules", size: 9, color: "green"},
		} {
			widget := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "harness.example.com/v1", "kind": "Widget",
				"metadata": map[string]any{"name": "second"},
				"spec":     map[string]any{"size": tt.size, "color": tt.color},
			}}
			// Apply instead of create: the server waits two seconds before it creates objects of a
			// new definition.
			_, err := widgets.Apply(t.Context(), "second", widget, metav1.ApplyOptions{FieldManager: "test"})
			if (err == nil) != (tt.say == "") || err != nil && !strings.Contains(err.Error(), tt.say) {
				t.Errorf("%s: the server says %v", tt.situation, err)
			}
		}
		_, err = widgets.Get(t.Context(), "first", metav1.GetOptions{})
		must(t, err)
		s.Install(t, "testdata/install") // existing objects are not an error
		policies, err := clientFor(t, s.RESTConfig()).AdmissionregistrationV1().ValidatingAdmissionPolicies().List(t.Context(), metav1.ListOptions{})
		must(t, err)
		if len(policies.Items) != 1 {
			t.Errorf("there are %d policies", len(policies.Items))
		}
	})
}
