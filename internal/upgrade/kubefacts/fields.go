package kubefacts

import (
	"maps"
	"slices"
)

// Fields are the sorted paths of all fields of a configuration file, such as
// "authentication.webhook.enabled". "[]" stands for the elements of a list
// ("registerWithTaints[].key"), ".*" for the entries of a map ("featureGates.*").
//
// A component starts with an unknown field: it ignores the field and logs a line at most.
type Fields []string

// Has reports whether a path, with its "[]" and ".*", is a field.
func (f Fields) Has(path string) bool {
	_, found := slices.BinarySearch(f, path)
	return found
}

// Unknown lists the paths of a decoded document that are not fields, sorted and unique. It does not
// list what is below an unknown field. apiVersion and kind are always known.
func (f Fields) Unknown(document map[string]any) []string {
	unknown := map[string]bool{}
	for name, value := range document {
		if name != "apiVersion" && name != "kind" {
			f.walk(name, value, unknown)
		}
	}
	return slices.Sorted(maps.Keys(unknown))
}

// walk descends as far as the fields do: a leaf, such as a quantity, has no fields.
func (f Fields) walk(path string, value any, unknown map[string]bool) {
	if !f.Has(path) {
		unknown[path] = true
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			if f.Has(path + ".*") {
				f.walk(path+".*", below, unknown)
			} else if f.branches(path) {
				f.walk(path+"."+name, below, unknown)
			}
		}
	case []any:
		for _, element := range value {
			if f.Has(path + "[]") {
				f.walk(path+"[]", element, unknown)
			}
		}
	}
}

// branches reports whether a field has fields below it.
func (f Fields) branches(path string) bool {
	next, _ := slices.BinarySearch(f, path+".")
	return next < len(f) && len(f[next]) > len(path) && f[next][:len(path)+1] == path+"."
}

// RemovedFields lists the fields that one release has and another ignores.
func RemovedFields(from, to Fields) []string {
	var removed []string
	for _, path := range from {
		if !to.Has(path) {
			removed = append(removed, path)
		}
	}
	return removed
}
