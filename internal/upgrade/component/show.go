package component

import (
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// The values that stand for secret ones that differ.
const (
	maskedBefore = Masked + " (before)"
	maskedAfter  = Masked + " (after)"
)

// Shown is the change of an object with all its fields. Secret values, and those that differ from
// one rendering to the next, are masked.
type Shown struct {
	Change
	Before, After Object // nil if the object does not exist
}

// Show returns the changes between two manifests, as Diff computes them, with the objects.
func Show(before, after []Object, namespace string, mask Mask) []Shown {
	olds, news := byRef(before, namespace), byRef(after, namespace)
	var out []Shown
	for _, change := range Diff(before, after, namespace, mask) {
		old, next := olds[change.Object].deepCopy(), news[change.Object].deepCopy()
		for path := range mask[change.Object] {
			replace(map[string]any(old), fieldsOf(path))
			replace(map[string]any(next), fieldsOf(path))
		}
		if change.Object.secret() {
			maskSecret(old, next)
		}
		out = append(out, Shown{Change: change, Before: old, After: next})
	}
	return out
}

func (o Object) deepCopy() Object {
	if o == nil {
		return nil
	}
	return runtime.DeepCopyJSON(o)
}

// replace masks the value at a path, if there is one.
func replace(value any, keys []string) any {
	if len(keys) == 0 {
		return Masked
	}
	switch v := value.(type) {
	case map[string]any:
		if item, has := v[keys[0]]; has {
			v[keys[0]] = replace(item, keys[1:])
		}
	case []any:
		for i := range v {
			if keys[0] == index(i) {
				v[i] = replace(v[i], keys[1:])
			}
		}
	}
	return value
}

// maskSecret masks the data of a Secret, so that a reader sees which keys differ.
func maskSecret(before, after Object) {
	for _, field := range []string{"data", "stringData"} {
		old, next := secretData(before, field), secretData(after, field)
		keys := maps.Clone(old)
		if keys == nil {
			keys = map[string]any{}
		}
		maps.Copy(keys, next)
		for key := range keys {
			from, had := old[key]
			to, has := next[key]
			maskFrom, maskTo := Masked, Masked
			if had && has && !reflect.DeepEqual(from, to) {
				maskFrom, maskTo = maskedBefore, maskedAfter
			}
			if had {
				old[key] = maskFrom
			}
			if has {
				next[key] = maskTo
			}
		}
	}
}

// secretData returns a field of a Secret. One that is no map is masked as a whole.
func secretData(o Object, field string) map[string]any {
	data, is := o[field].(map[string]any)
	if !is && o[field] != nil {
		o[field] = Masked
	}
	return data
}
