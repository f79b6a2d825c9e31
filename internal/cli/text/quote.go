package text

import "strings"

// Quote writes an argument as a shell takes it back unchanged. Names come from the cluster: a line that is made to be copied must not hold
// anything that a shell would run.
func Quote(argument string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if argument != "" && strings.IndexFunc(argument, func(r rune) bool { return !safe(r) }) < 0 {
		return argument
	}
	return "'" + strings.ReplaceAll(argument, "'", `'\''`) + "'"
}
