package main

import (
	"path/filepath"
	"strings"
)

// nameOf is what a person types to run the program. A program named kubectl-refit is run by kubectl as `kubectl refit`, and what we print to be
// copied has to say so.
func nameOf(program string) string {
	base := strings.TrimSuffix(filepath.Base(program), ".exe")
	if rest, plugin := strings.CutPrefix(base, "kubectl-"); plugin && rest != "" {
		return "kubectl " + rest
	}
	return "refit"
}
