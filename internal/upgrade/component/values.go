package component

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Merge merges values: maps are merged, and everything else replaces what was there. Null stays
// null, because Helm deletes such keys from the values of the chart. It changes neither argument.
func Merge(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range over {
		below, isMap := value.(map[string]any)
		if !isMap {
			out[key] = value
			continue
		}
		under, _ := out[key].(map[string]any)
		out[key] = Merge(under, below)
	}
	return out
}

// Forbidden returns the paths of a user's values that a component does not allow, sorted.
func Forbidden(userMay []string, values map[string]any) (paths []string) {
	rules := make([]rule, len(userMay))
	for i, text := range userMay {
		pattern, deny := strings.CutPrefix(text, "!")
		rules[i] = rule{strings.Split(pattern, "."), deny}
	}
	walk(values, nil, func(path []string) {
		if !allowed(rules, path) {
			paths = append(paths, strings.Join(path, "."))
		}
	})
	slices.Sort(paths)
	return paths
}

// ValidateUserMay reports a pattern that matches nothing or that is not a pattern.
func ValidateUserMay(userMay []string) error {
	for i, text := range userMay {
		if pattern := strings.TrimPrefix(text, "!"); pattern == "" || slices.Contains(strings.Split(pattern, "."), "") {
			return fmt.Errorf("userMay[%d]: %q is not a path", i, text)
		}
	}
	return nil
}

type rule struct {
	pattern []string
	deny    bool
}

// walk visits what values set: everything that is not a map, and empty maps, which replace a value
// that is no map.
func walk(values map[string]any, path []string, visit func([]string)) {
	for key, value := range values {
		at := append(slices.Clone(path), key)
		if below, isMap := value.(map[string]any); isMap && len(below) > 0 {
			walk(below, at, visit)
			continue
		}
		visit(at)
	}
}

// allowed reports whether a path may be set. A value replaces everything below its path, and a map
// replaces a value, so paths above and below a forbidden one are forbidden too.
func allowed(rules []rule, path []string) (ok bool) {
	for _, r := range rules {
		switch {
		case !r.deny && matches(r.pattern, path):
			ok = true
		case r.deny && (matchesAbove(r.pattern, path) || matchesBelow(r.pattern, path)):
			ok = false
		}
	}
	return ok
}

// matches reports whether a pattern matches a path.
func matches(pattern, path []string) bool {
	switch {
	case len(pattern) == 0:
		return len(path) == 0
	case pattern[0] == "**":
		return matches(pattern[1:], path) || len(path) > 0 && matches(pattern, path[1:])
	case len(path) == 0:
		return false
	}
	return (pattern[0] == "*" || pattern[0] == path[0]) && matches(pattern[1:], path[1:])
}

// matchesAbove reports whether a pattern matches a path or one above it, which a value below it
// replaces.
func matchesAbove(pattern, path []string) bool {
	for n := range len(path) + 1 {
		if matches(pattern, path[:n]) {
			return true
		}
	}
	return false
}

// matchesBelow reports whether a pattern can match a path that begins with this one.
func matchesBelow(pattern, path []string) bool {
	switch {
	case len(path) == 0:
		return true
	case len(pattern) == 0:
		return false
	case pattern[0] == "**":
		return true
	}
	return (pattern[0] == "*" || pattern[0] == path[0]) && matchesBelow(pattern[1:], path[1:])
}
