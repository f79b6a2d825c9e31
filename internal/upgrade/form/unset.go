package form

import (
	"fmt"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Unset returns the required items among those that are shown of which a component has no value,
// each with its title and path. Somebody may also have set the values without the form.
func Unset(f *refitv1alpha1.ComponentForm, shown func(item string) bool, component string, values map[string]any) (out []string) {
	for item := range items(f) {
		if !item.Required || !shown(item.Name) {
			continue
		}
		for _, target := range item.Sets {
			if target.Component == component && !has(values, strings.Split(target.Path, ".")) {
				out = append(out, fmt.Sprintf("%s (%s)", item.Title, target.Path))
			}
		}
	}
	return out
}

// has reports whether values have one that is not empty at a path.
func has(values map[string]any, path []string) bool {
	for _, key := range path[:len(path)-1] {
		below, is := values[key].(map[string]any)
		if !is {
			return false
		}
		values = below
	}
	value := values[path[len(path)-1]]
	return value != nil && value != ""
}
