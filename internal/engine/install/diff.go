package install

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// diff returns the fields in which two states of an object differ, without those that the API
// server manages.
func diff(before, after *unstructured.Unstructured) []string {
	var out []string
	collect(&out, "", withoutServerFields(before), withoutServerFields(after))
	return out
}

func withoutServerFields(object *unstructured.Unstructured) map[string]any {
	fields := object.DeepCopy().Object
	unstructured.RemoveNestedField(fields, "status")
	for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
		unstructured.RemoveNestedField(fields, "metadata", field)
	}
	return fields
}

func collect(out *[]string, path string, before, after any) {
	if reflect.DeepEqual(before, after) {
		return
	}
	switch before := before.(type) {
	case map[string]any:
		if after, ok := after.(map[string]any); ok {
			both := maps.Clone(before)
			maps.Copy(both, after)
			for _, name := range slices.Sorted(maps.Keys(both)) {
				collect(out, field(path, name), before[name], after[name])
			}
			return
		}
	case []any:
		if after, ok := after.([]any); ok && len(before) == len(after) {
			for i := range before {
				collect(out, fmt.Sprintf("%s[%d]", path, i), before[i], after[i])
			}
			return
		}
	}
	*out = append(*out, path)
}

func field(path, name string) string {
	switch {
	case strings.ContainsAny(name, "./"):
		return path + "[" + name + "]"
	case path == "":
		return name
	}
	return path + "." + name
}
