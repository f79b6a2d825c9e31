package bed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Programs are those under test, built from this source.
type Programs struct{ Refit, Controller, Agent string }

// builds are kept beside what `make` builds, so that a second run finds them.
const builds = "../../../bin/e2e"

var (
	built = sync.OnceValues(func() (Programs, error) {
		var errs [3]error
		p := Programs{}
		p.Refit, errs[0] = compile("refit", "")
		p.Controller, errs[1] = compile("refit-controller", "")
		p.Agent, errs[2] = compile("refit-agent", "")
		return p, errors.Join(errs[:]...)
	})
	builtCrashing = sync.OnceValues(func() (string, error) { return compile("refit-agent", "crashpoints") })
)

// Build builds the programs as users get them, once.
func Build(t *testing.T) Programs {
	t.Helper()
	p, err := built()
	Must(t, err)
	return p
}

// BuildCrashing builds an agent that has crash points, once.
func BuildCrashing(t *testing.T) string {
	t.Helper()
	program, err := builtCrashing()
	Must(t, err)
	return program
}

// compile builds a command. Without the commit in it, the same source makes the same program, and results are known to be of this one.
func compile(name, tag string) (string, error) {
	program := filepath.Join(builds, strings.Trim(name+"-"+tag, "-"))
	argv := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-tags", tag, "-o", program, "../../../cmd/" + name}
	cmd := exec.CommandContext(context.Background(), "go", argv...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w: %s", name, err, out)
	}
	return program, nil
}

// Run runs a program on this machine and returns what it printed.
func Run(t *testing.T, program string, args ...string) []byte {
	t.Helper()
	out, err := TryRun(t.Context(), program, args...)
	Must(t, err)
	return out
}

// TryRun is Run that may fail.
func TryRun(ctx context.Context, program string, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		said := ""
		if ended, ok := errors.AsType[*exec.ExitError](err); ok {
			said = string(ended.Stderr)
		}
		return out, fmt.Errorf("%s %v: %w: %s%s", filepath.Base(program), args, err, said, out)
	}
	return out, nil
}
