package component

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Change is what an upgrade does to one object.
type Change struct {
	Kind   ChangeKind `json:"kind"`
	Object Ref        `json:"object"`
	// Fields are the fields that change, as JSON pointers with their values. Masked values are not
	// shown.
	Fields []FieldChange `json:"fields,omitempty"`
}

// ChangeKind is the kind of a change.
type ChangeKind string

// The kinds of changes.
const (
	Created ChangeKind = "Create"
	Changed ChangeKind = "Change"
	Deleted ChangeKind = "Delete"
)

// FieldChange is the change of one field. A field that did not exist has no From, and a field that
// is removed no To.
type FieldChange struct {
	Path string `json:"path"`
	From any    `json:"from,omitempty"`
	To   any    `json:"to,omitempty"`
}

// Masked stands for a value that is secret, or that differs from one rendering to the next.
const Masked = "(masked)"

// Mask are the fields that differ between two renderings of a chart.
type Mask map[Ref]map[string]bool

// MaskOf compares two renderings of the same chart with the same values.
func MaskOf(first, second []Object, namespace string) Mask {
	mask := Mask{}
	for _, change := range Diff(first, second, namespace, nil) {
		fields := map[string]bool{}
		for _, field := range change.Fields {
			fields[field.Path] = true
		}
		mask[change.Object] = fields
	}
	return mask
}

// Diff compares two manifests of a Helm release. Changes are sorted by object, and fields by path.
func Diff(before, after []Object, namespace string, mask Mask) (changes []Change) {
	olds, news := byRef(before, namespace), byRef(after, namespace)
	for ref, old := range olds {
		next, kept := news[ref]
		if !kept {
			changes = append(changes, Change{Kind: Deleted, Object: ref})
			continue
		}
		if fields := diffFields(ref, old, next, mask[ref]); len(fields) > 0 {
			changes = append(changes, Change{Kind: Changed, Object: ref, Fields: fields})
		}
	}
	for ref := range news {
		if _, existed := olds[ref]; !existed {
			changes = append(changes, Change{Kind: Created, Object: ref})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(strings.Compare(a.Object.String(), b.Object.String()), strings.Compare(string(a.Kind), string(b.Kind)))
	})
	return changes
}

// DeletedCRDs returns the CRDs that an upgrade would delete, and every object of them with it.
func DeletedCRDs(changes []Change) (crds []Ref) {
	for _, c := range changes {
		if c.Kind == Deleted && c.Object.CRD() {
			crds = append(crds, c.Object)
		}
	}
	return crds
}

func byRef(objects []Object, namespace string) map[Ref]Object {
	out := make(map[Ref]Object, len(objects))
	for _, o := range objects {
		out[RefOf(o, namespace)] = o
	}
	return out
}

func diffFields(ref Ref, before, after Object, mask map[string]bool) (fields []FieldChange) {
	diffValues("", map[string]any(before), map[string]any(after), func(path string, from, to any) {
		if covers(mask, path) {
			return
		}
		from, to = maskBelow(mask, path, from), maskBelow(mask, path, to)
		if secret(ref, path) {
			from, to = masked(from), masked(to)
		}
		fields = append(fields, FieldChange{Path: path, From: from, To: to})
	})
	slices.SortFunc(fields, func(a, b FieldChange) int { return strings.Compare(a.Path, b.Path) })
	return fields
}

// covers reports whether a mask has a field or one above it.
func covers(mask map[string]bool, path string) bool {
	for at := path; at != ""; at = at[:strings.LastIndex(at, "/")] {
		if mask[at] {
			return true
		}
	}
	return false
}

// maskBelow masks fields of a value that differs as a whole: a digest with a random one would be
// another one each time.
func maskBelow(mask map[string]bool, path string, value any) any {
	copied := false
	for field := range mask {
		below, is := strings.CutPrefix(field, path+"/")
		if !is {
			continue
		}
		if !copied {
			value, copied = runtime.DeepCopyJSONValue(value), true
		}
		value = replace(value, fieldsOf(below))
	}
	return value
}

// fieldsOf returns the keys of a JSON pointer.
func fieldsOf(path string) []string {
	keys := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i := range keys {
		keys[i] = unescape(keys[i])
	}
	return keys
}

// secret reports whether a field of an object is secret.
func secret(ref Ref, path string) bool {
	return ref.secret() &&
		(path == "/data" || path == "/stringData" || strings.HasPrefix(path, "/data/") || strings.HasPrefix(path, "/stringData/"))
}

func masked(value any) any {
	if value == nil {
		return nil
	}
	return Masked
}

// diffValues reports each field that differs. Lists of the same length are compared by index;
// others differ as a whole, because an index does not identify their items.
func diffValues(path string, from, to any, report func(path string, from, to any)) {
	if reflect.DeepEqual(from, to) {
		return
	}
	switch old := from.(type) {
	case map[string]any:
		if next, ok := to.(map[string]any); ok {
			keys := maps.Clone(old)
			maps.Copy(keys, next)
			for key := range keys {
				diffValues(path+"/"+escape(key), old[key], next[key], report)
			}
			return
		}
	case []any:
		if next, ok := to.([]any); ok && len(old) == len(next) {
			for i := range old {
				diffValues(path+"/"+index(i), old[i], next[i], report)
			}
			return
		}
	}
	report(path, from, to)
}

// escape writes a key as a JSON pointer needs it.
func escape(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

func unescape(key string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
}

func index(i int) string { return strconv.Itoa(i) }
