package install

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestInventorySurvivesARoundTrip(t *testing.T) {
	objects, err := Render(options())
	must(t, err)
	refs, err := refsOf(objects)
	must(t, err)
	want := Inventory{Version: "v0.1.0", Agent: "registry.example/refit-agent:v0.1.0", Chosen: true, Cleared: true}.with(refs).with(refs)
	got, err := readInventory(want.object())
	must(t, err)
	if len(got.Objects) != len(refs) || got.Version != want.Version || got.Agent != want.Agent || !got.Cleared || !got.Chosen {
		t.Errorf("%+v", got)
	}
	for _, ref := range refs {
		found := false
		for _, other := range got.Objects {
			found = found || other == ref
		}
		if !found {
			t.Errorf("%s is missing or differs", ref)
		}
	}
}

func TestObsoleteObjectsExcludeCRDsAndNamespaces(t *testing.T) {
	ref := func(version, resource, name string) Ref {
		return Ref{APIVersion: version, Resource: resource, Namespace: "n", Name: name}
	}
	before := Inventory{}.with([]Ref{
		ref("apps/v1", "deployments", "old"), ref("apps/v1", "deployments", "kept"), ref("policy/v1beta1", "poddisruptionbudgets", "newer"),
		{APIVersion: "v1", Resource: "namespaces", Name: "refit-system"},
		{APIVersion: "apiextensions.k8s.io/v1", Resource: "customresourcedefinitions", Name: "gone.refit.dev"},
	})
	got := before.obsolete([]Ref{ref("apps/v1", "deployments", "kept"), ref("policy/v1", "poddisruptionbudgets", "newer")})
	if len(got) != 1 || got[0].Name != "old" {
		t.Errorf("%v", got)
	}
}

func TestInvalidInventoryIsRefused(t *testing.T) {
	for _, line := range []string{"x", "v1 configmaps", "a/b/c configmaps n/x", "v1 configmaps name", "v1 configmaps n/"} {
		object := Inventory{}.object()
		must(t, unstructured.SetNestedField(object.Object, line+"\n", "data", "objects"))
		if got, err := readInventory(object); err == nil || !strings.Contains(err.Error(), "cannot parse the inventory") {
			t.Errorf("%q is parsed as %v, %v", line, got, err)
		}
	}
}

func TestDiffReturnsChangedFields(t *testing.T) {
	object := func(changes map[string]any) *unstructured.Unstructured {
		out := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "x", "resourceVersion": "1", "generation": int64(1), "annotations": map[string]any{"refit.dev/template": "a"}},
			"spec":     map[string]any{"containers": []any{map[string]any{"image": "a", "args": []any{"x"}}}, "replicas": int64(2)},
			"status":   map[string]any{"replicas": int64(2)},
		}}
		for path, value := range changes {
			must(t, unstructured.SetNestedField(out.Object, value, strings.Split(path, "|")...))
		}
		return out
	}
	for name, c := range map[string]struct {
		changes map[string]any
		want    []string
	}{
		"nothing":                  {nil, nil},
		"server-managed fields":    {map[string]any{"metadata|resourceVersion": "2", "metadata|generation": int64(2), "status|replicas": int64(1)}, nil},
		"a value":                  {map[string]any{"spec|replicas": int64(1)}, []string{"spec.replicas"}},
		"a key with dots":          {map[string]any{"metadata|annotations|refit.dev/template": "b"}, []string{"metadata.annotations[refit.dev/template]"}},
		"a new field":              {map[string]any{"spec|paused": true}, []string{"spec.paused"}},
		"a field in a list":        {map[string]any{"spec|containers": []any{map[string]any{"image": "b", "args": []any{"x"}}}}, []string{"spec.containers[0].image"}},
		"a list of another length": {map[string]any{"spec|containers": []any{}}, []string{"spec.containers"}},
	} {
		if got := diff(object(nil), object(c.changes)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
