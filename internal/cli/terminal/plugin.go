package terminal

import (
	"path/filepath"
	"strings"
)

// NameOf is what the user types to run the program. kubectl runs a program named kubectl-refit
// as `kubectl refit`, and the commands that are printed to be copied have to match.
func NameOf(program string) string {
	base := strings.TrimSuffix(filepath.Base(program), ".exe")
	for _, prefix := range []string{"kubectl-", completesPrefix} {
		if rest, plugin := strings.CutPrefix(base, prefix); plugin && rest != "" {
			return "kubectl " + rest
		}
	}
	return "refit"
}

// completesPrefix begins the name of the executable that kubectl runs to complete a plugin's command
// line.
const completesPrefix = "kubectl_complete-"

// completeCommand is the command of cobra that completes a command line.
const completeCommand = "__complete"

// ArgumentsOf returns the arguments of the program, as those of a completion if kubectl runs it for
// that.
func ArgumentsOf(program string, args []string) []string {
	if strings.HasPrefix(filepath.Base(program), completesPrefix) {
		return append([]string{completeCommand}, args...)
	}
	return args
}
