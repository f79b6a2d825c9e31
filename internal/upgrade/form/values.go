package form

import (
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Values returns the values of each component that a form can set, which may be empty.
func Values(f *refitv1alpha1.ComponentForm, answers Answers) map[string]map[string]any {
	out := map[string]map[string]any{}
	for item := range items(f) {
		answer, answered := answers[item.Name]
		for _, target := range item.Sets {
			if out[target.Component] == nil {
				out[target.Component] = map[string]any{}
			}
			if answered {
				set(out[target.Component], strings.Split(target.Path, "."), answer)
			}
		}
	}
	return out
}

// masked stands for a password.
const masked = "********"

// Public returns answers whose passwords are masked.
func Public(f *refitv1alpha1.ComponentForm, answers Answers) Answers {
	out := Answers{}
	for item := range items(f) {
		answer, answered := answers[item.Name]
		switch {
		case !answered:
		case item.Type == refitv1alpha1.FormPassword:
			out[item.Name] = masked
		default:
			out[item.Name] = answer
		}
	}
	return out
}

// items are the items of all groups.
func items(f *refitv1alpha1.ComponentForm) func(yield func(*refitv1alpha1.FormItem) bool) {
	return func(yield func(*refitv1alpha1.FormItem) bool) {
		for g := range f.Groups {
			for i := range f.Groups[g].Items {
				if !yield(&f.Groups[g].Items[i]) {
					return
				}
			}
		}
	}
}

// nested returns values with a path.
func nested(path string, value any) map[string]any {
	out := map[string]any{}
	set(out, strings.Split(path, "."), value)
	return out
}

func set(values map[string]any, path []string, value any) {
	for _, key := range path[:len(path)-1] {
		below, is := values[key].(map[string]any)
		if !is {
			below = map[string]any{}
			values[key] = below
		}
		values = below
	}
	values[path[len(path)-1]] = value
}
