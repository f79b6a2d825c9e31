package crd

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
)

// lost returns the dropped fields that the old schema would not set again: a field whose value is
// its default comes back as soon as the object is read under the old schema. Live objects have all
// defaults, so each removed field with a default would count as loss otherwise.
func lost(dropped []string, object, pruned *unstructured.Unstructured, old *Schema) []string {
	if old == nil || len(dropped) == 0 {
		return dropped
	}
	read := pruned.DeepCopy()
	old.setDefaults(read)
	restored := sets.New[string]()
	findRestored("", object.Object, read.Object, sets.New(dropped...), restored)
	return slices.DeleteFunc(slices.Clone(dropped), restored.Has)
}

// findRestored finds the dropped paths at which two values are equal.
func findRestored(path string, before, after any, dropped, restored sets.Set[string]) {
	if dropped.Has(path) {
		if reflect.DeepEqual(before, after) {
			restored.Insert(path)
		}
		return
	}
	switch before := before.(type) {
	case map[string]any:
		fields, ok := after.(map[string]any)
		for name, value := range before {
			if other, found := fields[name]; ok && found {
				findRestored(join(path, name), value, other, dropped, restored)
			}
		}
	case []any:
		entries, ok := after.([]any)
		for i, value := range before {
			if ok && i < len(entries) {
				findRestored(fmt.Sprintf("%s[%d]", path, i), value, entries[i], dropped, restored)
			}
		}
	}
}
