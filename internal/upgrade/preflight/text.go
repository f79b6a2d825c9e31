package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// joinNames lists up to three names and counts the rest.
func joinNames(names []string) string {
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

// plural returns "1 pod" or "3 pods".
func plural[N ~int | ~int32 | ~int64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(int(n)) + " " + one + "s"
}

// command quotes a refit command for a remedy.
func command(line string) string { return "`" + line + "`" }

func lower(s string) string { return strings.ToLower(s) }

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
