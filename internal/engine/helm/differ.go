package helm

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A Difference is a path at which two renderings differ. It has no values: they may be secret.
type Difference struct {
	Object Ref
	Path   string // a JSON pointer; empty if one rendering lacks the object
}

// Differences returns the paths at which two renderings of the same chart differ. A chart that
// creates passwords or certificates differs between two renderings; its paths are masked in a diff.
// Data of Secrets is one path.
func Differences(a, b Rendering) []Difference {
	var found []Difference
	for _, lists := range [][2][]Object{{a.Objects, b.Objects}, {a.Hooks, b.Hooks}, {a.CRDs, b.CRDs}} {
		found = append(found, differencesOf(lists[0], lists[1])...)
	}
	slices.SortFunc(found, func(a, b Difference) int {
		if order := compareRefs(a.Object, b.Object); order != 0 {
			return order
		}
		return strings.Compare(a.Path, b.Path)
	})
	return slices.Compact(found)
}

func differencesOf(a, b []Object) []Difference {
	var found []Difference
	others := map[Ref]Object{}
	for _, object := range b {
		others[object.Ref] = object
	}
	for _, object := range a {
		other, ok := others[object.Ref]
		if !ok {
			found = append(found, Difference{Object: object.Ref})
			continue
		}
		delete(others, object.Ref)
		for _, path := range differingPaths("", object.Content.Object, other.Content.Object) {
			found = append(found, Difference{Object: object.Ref, Path: maskSecret(object.Ref, path)})
		}
	}
	for ref := range others {
		found = append(found, Difference{Object: ref})
	}
	return found
}

func maskSecret(ref Ref, path string) string {
	if ref.Group == "" && ref.Kind == "Secret" {
		for _, field := range []string{"/data", "/stringData"} {
			if strings.HasPrefix(path, field) {
				return field
			}
		}
	}
	return path
}

func differingPaths(path string, a, b any) []string {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return differingFields(path, a, b)
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			var found []string
			for i := range a {
				found = append(found, differingPaths(path+"/"+strconv.Itoa(i), a[i], b[i])...)
			}
			return found
		}
	}
	return []string{path}
}

func differingFields(path string, a, b map[string]any) []string {
	var found []string
	for key, value := range a {
		found = append(found, differingPaths(path+"/"+escape(key), value, b[key])...)
	}
	for key, value := range b {
		if _, ok := a[key]; !ok {
			found = append(found, differingPaths(path+"/"+escape(key), nil, value)...)
		}
	}
	return found
}

// escape escapes a name for a JSON pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
