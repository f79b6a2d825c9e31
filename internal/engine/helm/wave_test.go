package helm

import (
	"slices"
	"testing"
)

func TestMixed(t *testing.T) {
	object := func(kind, name, source string) Object {
		return Object{Ref: Ref{Kind: kind, Name: name}, Source: source}
	}
	old := []Object{object("Role", "a", "old"), object("Deployment", "b", "old"), object("Role", "removed", "old")}
	rendered := []Object{object("Role", "a", "new"), object("Deployment", "b", "new"), object("Deployment", "added", "new"), object("Role", "added", "new")}
	first := mixed(old, rendered, Wave{Includes: func(ref Ref) bool { return ref.Kind == "Role" }})
	want := []Object{rendered[0], rendered[3], old[1], old[2]}
	if !slices.Equal(first, want) {
		t.Errorf("the first wave is %v, want %v", first, want)
	}
	if last := mixed(old, rendered, Wave{Last: true}); !slices.Equal(last, rendered) {
		t.Errorf("the last wave is %v", last)
	}
}

func TestTheSourceOfAStoredObject(t *testing.T) {
	objects, err := objectsOf("---\n# Source: app/templates/a.yaml\napiVersion: v1\nkind: List\nitems:\n"+
		"- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}\n---\n# only a comment\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: b}\n", "", "shop")
	must(t, err)
	if got := names(objects); !slices.Equal(got, []string{"ConfigMap/a", "Secret/b"}) {
		t.Errorf("the objects are %v", got)
	}
	if objects[0].Source != "app/templates/a.yaml" || objects[1].Source != "manifest.yaml" {
		t.Errorf("the sources are %q and %q", objects[0].Source, objects[1].Source)
	}
}
