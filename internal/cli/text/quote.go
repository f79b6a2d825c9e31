package text

import "strings"

// Quote quotes an argument for a shell. Names come from the cluster: a command to copy must not
// contain anything that a shell would run.
func Quote(argument string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if argument != "" && strings.IndexFunc(argument, func(r rune) bool { return !safe(r) }) < 0 {
		return argument
	}
	return alwaysQuote(argument)
}

// alwaysQuote quotes an argument that the user edits, even if it needs no quotes yet.
func alwaysQuote(argument string) string {
	return "'" + strings.ReplaceAll(argument, "'", `'\''`) + "'"
}
