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

// pronoun returns "it" for one name, "them" for more.
func pronoun(names []string) string {
	if len(names) == 1 {
		return "it"
	}
	return "them"
}

// command quotes a command for a remedy.
func command(line string) string { return "`" + line + "`" }

// orLeaveOut adds to a remedy how to upgrade the cluster without a worker: first the command for an
// existing upgrade, whose status clips a long remedy. A control plane node cannot be left out.
func orLeaveOut(n *node, remedy string) string {
	if n.ControlPlane {
		return remedy
	}
	return fmt.Sprintf("%s Or leave %s out: for an upgrade that exists, run %s; else add --node-selector upgrade=yes, after %s.",
		remedy, n.Name, command("refit abandon "+n.Name), command("kubectl label nodes --all upgrade=yes; kubectl label node "+n.Name+" upgrade-"))
}

func lower(s string) string { return strings.ToLower(s) }

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
