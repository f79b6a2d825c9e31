package kubefacts

import (
	"maps"
	"slices"
)

// Fields are the paths of all fields that a configuration file may have, sorted:
// "authentication.webhook.enabled". "[]" stands for the elements of a list
// ("registerWithTaints[].key"), ".*" for the entries of a map, which may have any
// name ("featureGates.*").
//
// A component starts although it does not know a field: it ignores it, with a line
// in its log at most, and what the field asked for is lost.
type Fields []string

// Has says whether a path, with its "[]" and ".*", is a field.
func (f Fields) Has(path string) bool {
	_, found := slices.BinarySearch(f, path)
	return found
}

// Unknown lists the paths of a decoded document that are no fields, sorted, each
// once; of a field that is not known only itself, not what is below it. apiVersion
// and kind are always known.
func (f Fields) Unknown(document map[string]any) []string {
	unknown := map[string]bool{}
	for name, value := range document {
		if name != "apiVersion" && name != "kind" {
			f.walk(name, value, unknown)
		}
	}
	return slices.Sorted(maps.Keys(unknown))
}

// walk goes down as far as the fields do: below a leaf, such as a quantity, there
// is nothing to know.
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

// branches says whether a field has fields below it.
func (f Fields) branches(path string) bool {
	next, _ := slices.BinarySearch(f, path+".")
	return next < len(f) && len(f[next]) > len(path) && f[next][:len(path)+1] == path+"."
}

// RemovedFields lists the fields that one release knows and another ignores.
func RemovedFields(from, to Fields) []string {
	var removed []string
	for _, path := range from {
		if !to.Has(path) {
			removed = append(removed, path)
		}
	}
	return removed
}
