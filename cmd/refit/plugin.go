package main

import (
	"path/filepath"
	"strings"
)

// nameOf is what the user types to run the program. kubectl runs a program named kubectl-refit
// as `kubectl refit`, and the commands that are printed to be copied have to match.
func nameOf(program string) string {
	base := strings.TrimSuffix(filepath.Base(program), ".exe")
	if rest, plugin := strings.CutPrefix(base, "kubectl-"); plugin && rest != "" {
		return "kubectl " + rest
	}
	return "refit"
}
