package component

import (
	"reflect"
	"slices"
	"testing"
)

func TestMerge(t *testing.T) {
	base := map[string]any{"keep": 1, "map": map[string]any{"a": 1, "b": 2}, "list": []any{1, 2}, "gone": "x"}
	over := map[string]any{"map": map[string]any{"b": 3, "c": nil}, "list": []any{3}, "gone": nil}
	want := map[string]any{"keep": 1, "map": map[string]any{"a": 1, "b": 3, "c": nil}, "list": []any{3}, "gone": nil}
	if got := Merge(base, over); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if base["gone"] != "x" || base["map"].(map[string]any)["b"] != 2 {
		t.Error("the base was changed")
	}
}

func TestForbiddenValues(t *testing.T) {
	liqo := []string{"**", "!liqo-crds.**"}
	for _, c := range []struct {
		situation string
		userMay   []string
		values    map[string]any
		want      []string
	}{
		{"nothing is allowed", nil, map[string]any{"a": 1}, []string{"a"}},
		{"everything is allowed", []string{"**"}, map[string]any{"a": map[string]any{"b": 1}}, nil},
		{"below a forbidden key", liqo, map[string]any{"liqo-crds": map[string]any{"crdUpgrade": map[string]any{"enabled": true}}}, []string{"liqo-crds.crdUpgrade.enabled"}},
		{"a forbidden key is deleted", liqo, map[string]any{"liqo-crds": nil}, []string{"liqo-crds"}},
		{"a key above a forbidden one is deleted", []string{"**", "!a.b.c"}, map[string]any{"a": nil}, []string{"a"}},
		{"a key above a forbidden one is replaced", []string{"**", "!a.*.c"}, map[string]any{"a": map[string]any{"x": "y"}}, []string{"a.x"}},
		{"a forbidden value is replaced by an empty map", liqo, map[string]any{"liqo-crds": map[string]any{}}, []string{"liqo-crds"}},
		{"a forbidden value is replaced by a map", []string{"**", "!image.tag"}, map[string]any{"image": map[string]any{"tag": map[string]any{"x": 1}}}, []string{"image.tag.x"}},
		{"allowed again below a forbidden key", []string{"a.**", "!a.b.**", "a.b.c"}, map[string]any{"a": map[string]any{"b": map[string]any{"c": 1, "d": 1}}}, []string{"a.b.d"}},
		{"one key only", []string{"replicas"}, map[string]any{"replicas": 2, "image": "x"}, []string{"image"}},
		{"any key at one level", []string{"*.replicas"}, map[string]any{"a": map[string]any{"replicas": 1, "image": 1}, "replicas": 1}, []string{"a.image", "replicas"}},
		{"in a list", []string{"tolerations"}, map[string]any{"tolerations": []any{map[string]any{"key": "x"}}}, nil},
	} {
		t.Run(c.situation, func(t *testing.T) {
			if got := Forbidden(c.userMay, c.values); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	for _, text := range []string{"", "!", "a..b", ".a", "a."} {
		if ValidateUserMay([]string{text}) == nil {
			t.Errorf("%q is accepted as a path", text)
		}
	}
}
