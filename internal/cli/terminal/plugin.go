package terminal

import (
	"path/filepath"
	"strings"
)

// NameOf is the command that the user types. kubectl runs the executable kubectl-refit as `kubectl
// refit`, and the printed commands must match that.
func NameOf(executable string) string {
	base := strings.TrimSuffix(filepath.Base(executable), ".exe")
	for _, prefix := range []string{"kubectl-", completesPrefix} {
		if rest, plugin := strings.CutPrefix(base, prefix); plugin && rest != "" {
			return "kubectl " + rest
		}
	}
	return "refit"
}

// completesPrefix is the prefix of the executable that kubectl runs to complete a plugin's command
// line.
const completesPrefix = "kubectl_complete-"

// completeCommand is the command of cobra that completes a command line.
const completeCommand = "__complete"

// ArgumentsOf returns the arguments of the process, as those of a completion if kubectl runs it for
// one.
func ArgumentsOf(executable string, args []string) []string {
	if strings.HasPrefix(filepath.Base(executable), completesPrefix) {
		return append([]string{completeCommand}, args...)
	}
	return args
}
