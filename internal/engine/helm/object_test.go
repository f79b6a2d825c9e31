package helm

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestIntegersKeepTheirValue(t *testing.T) {
	objects, err := objectsOf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nspec: {large: 9007199254740993, half: 0.5, one: 1}\n", "a.yaml", "shop")
	must(t, err)
	want := map[string]any{"large": int64(9007199254740993), "half": 0.5, "one": int64(1)}
	if got := objects[0].Content.Object["spec"]; !reflect.DeepEqual(got, want) {
		t.Errorf("the numbers are %#v, want %#v", got, want)
	}
	text, err := streamOf(objects)
	must(t, err)
	if !strings.Contains(text, "large: 9007199254740993\n") {
		t.Errorf("the document is\n%s", text)
	}
}

// TestAListOfHooks has its annotations on the list, as Helm reads them.
func TestAListOfHooks(t *testing.T) {
	chart := chartOf(t, map[string]string{"templates/hooks.yaml": `apiVersion: v1
kind: List
metadata: {annotations: {helm.sh/hook: pre-upgrade, helm.sh/hook-weight: "3", example.test/other: a}}
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, annotations: {helm.sh/hook-weight: "5"}}}
`})
	rendering, err := Render(t.Context(), chart, nil, Release{"shop", "app"}, target, true)
	must(t, err)
	if got := names(rendering.Hooks); !slices.Equal(got, []string{"ConfigMap/a", "ConfigMap/b"}) || len(rendering.Objects) != 0 {
		t.Fatalf("the hooks are %v, the objects %v", got, names(rendering.Objects))
	}
	for _, hook := range rendering.Hooks {
		if want := map[string]string{"helm.sh/hook": "pre-upgrade", "helm.sh/hook-weight": "3"}; !reflect.DeepEqual(hook.Content.GetAnnotations(), want) {
			t.Errorf("the annotations of %s are %v, want %v", hook, hook.Content.GetAnnotations(), want)
		}
	}
}

func TestAListOfOneKind(t *testing.T) {
	objects, err := objectsOf("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleList\nitems:\n- metadata: {name: a}\n", "a.yaml", "shop")
	must(t, err)
	if got := names(objects); !slices.Equal(got, []string{"Role.rbac.authorization.k8s.io/a"}) {
		t.Errorf("the objects are %v", got)
	}
}

func TestTheReleaseOfAForeignObject(t *testing.T) {
	live := &unstructured.Unstructured{}
	mine := Release{Namespace: "shop", Name: "cart"}
	if got := mine.otherRelease(live); got != "" {
		t.Errorf("an object without annotations is of %q", got)
	}
	annotate(live, map[string]string{nameAnnotation: "old", namespaceAnnotation: "store"})
	if got := mine.otherRelease(live); got != "store/old" {
		t.Errorf("it is of %q", got)
	}
}
