package bed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// Binaries are the binaries under test, built from this source.
type Binaries struct{ Refit, Controller, Agent string }

// builds is beside the output of `make`, so that a second run finds the binaries.
const builds = "../../../bin/e2e"

var (
	built = sync.OnceValues(func() (Binaries, error) {
		var errs [3]error
		p := Binaries{}
		p.Refit, errs[0] = compile("refit", "refit")
		p.Controller, errs[1] = compile("refit-controller", "refit-controller")
		p.Agent, errs[2] = compile("refit-agent", "refit-agent")
		return p, errors.Join(errs[:]...)
	})
	builtComponents = sync.OnceValues(func() (string, error) { return compile("refit-components", "refit-components") })
	builtPages      = sync.OnceValues(func() (string, error) { return compile("refit", "refit-pages", "-tags=web") })
	builtCrashing   = sync.OnceValues(func() (string, error) { return compile("refit-agent", "refit-agent-crashpoints", "-tags=crashpoints") })
)

// Build builds the binaries as users get them, once.
func Build(t *testing.T) Binaries {
	t.Helper()
	p, err := built()
	Must(t, err)
	return p
}

// BuildComponents builds refit-components, once. It links Helm, so tests that need no components do
// without it.
func BuildComponents(t *testing.T) string {
	t.Helper()
	binary, err := builtComponents()
	Must(t, err)
	return binary
}

// BuildPages builds a refit with the pages of `refit serve`, once. `make web` builds the pages.
func BuildPages(t *testing.T) string {
	t.Helper()
	binary, err := builtPages()
	Must(t, err)
	return binary
}

// BuildCrashing builds an agent with crash points, once.
func BuildCrashing(t *testing.T) string {
	t.Helper()
	binary, err := builtCrashing()
	Must(t, err)
	return binary
}

// compile builds a command without the commit in it: the same source then produces the same binary,
// so that stored results can be matched to it.
func compile(name, as string, flags ...string) (string, error) {
	binary := filepath.Join(builds, as)
	argv := slices.Concat([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w"}, flags, []string{"-o", binary, "../../../cmd/" + name})
	cmd := exec.CommandContext(context.Background(), "go", argv...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build %s: %w: %s", name, err, out)
	}
	return binary, nil
}

// Run runs a binary on this machine and returns its output.
func Run(t *testing.T, binary string, args ...string) []byte {
	t.Helper()
	out, err := TryRun(t.Context(), binary, args...)
	Must(t, err)
	return out
}

// TryRun is Run, but returns errors.
func TryRun(ctx context.Context, binary string, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, binary, args...).Output()
	if err != nil {
		stderr := ""
		if ended, ok := errors.AsType[*exec.ExitError](err); ok {
			stderr = string(ended.Stderr)
		}
		return out, fmt.Errorf("%s %v: %w: %s%s", filepath.Base(binary), args, err, stderr, out)
	}
	return out, nil
}
