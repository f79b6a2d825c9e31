package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// some names the first few of many.
func some(names []string) string {
	const most = 3
	switch {
	case len(names) <= 1:
		return strings.Join(names, "")
	case len(names) <= most:
		last := len(names) - 1
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return fmt.Sprintf("%s and %s more", strings.Join(names[:most], ", "), thousands(len(names)-most))
}

// many says "1 pod" or "3 pods".
func many[N ~int | ~int32 | ~int64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(int(n)) + " " + one + "s"
}

// command is a command of Refit that a remedy speaks of.
func command(line string) string { return "`" + line + "`" }

func lower(s string) string { return strings.ToLower(s) }

// sorted returns the names in a set, in order.
func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
