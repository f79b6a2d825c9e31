package machine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// A Program is something that the machine must have installed.
type Program struct {
	Name    string
	Package string // Debian's package with it
}

// Require says at once everything that keeps the testbed from working on this
// machine, and what a person can do about it.
func Require(programs ...Program) error {
	var errs []error
	if os.Getuid() != 0 {
		errs = append(errs, errors.New("the testbed makes network links, mounts and cgroups: run it as root"))
	}
	var missing, packages []string
	for _, p := range programs {
		if _, err := exec.LookPath(p.Name); err == nil {
			continue
		}
		missing = append(missing, p.Name)
		if !slices.Contains(packages, p.Package) {
			packages = append(packages, p.Package)
		}
	}
	if len(missing) > 0 {
		errs = append(errs, fmt.Errorf("not installed: %s; install with: apt-get install %s", strings.Join(missing, ", "), strings.Join(packages, " ")))
	}
	return errors.Join(errs...)
}
