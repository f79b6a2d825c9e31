package machine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// A Tool is an executable that the machine must have installed.
type Tool struct {
	Name    string
	Package string // Debian package
}

// Require returns everything that keeps the testbed from working on this machine, with remedies.
func Require(tools ...Tool) error {
	var errs []error
	if os.Getuid() != 0 {
		errs = append(errs, errors.New("the testbed creates network links, mounts and cgroups: run it as root"))
	}
	if _, err := TimeoutFactor(); err != nil {
		errs = append(errs, err)
	}
	var missing, packages []string
	for _, p := range tools {
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
