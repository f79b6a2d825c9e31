//go:build e2e

package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Programs under test, built from this source.
type programs struct {
	refit, controller string
	// agent is as users get it, crashing has crash points.
	agent, crashing string
}

// builds are kept beside what `make` builds, so that a second run finds them.
const builds = "../../../bin/e2e-agent"

var built = sync.OnceValues(func() (programs, error) {
	p := programs{
		refit: filepath.Join(builds, "refit"), controller: filepath.Join(builds, "refit-controller"),
		agent: filepath.Join(builds, "refit-agent"), crashing: filepath.Join(builds, "refit-agent-crashpoints"),
	}
	for _, b := range [][]string{
		{"-o", p.refit, "../../../cmd/refit"},
		{"-o", p.controller, "../../../cmd/refit-controller"},
		{"-o", p.agent, "../../../cmd/refit-agent"},
		{"-tags", "crashpoints", "-o", p.crashing, "../../../cmd/refit-agent"},
	} {
		// Without the commit in it, the same source makes the same program, and results are known to be of this one.
		argv := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w"}, b...)
		cmd := exec.CommandContext(context.Background(), "go", argv...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return p, fmt.Errorf("building %s: %w: %s", b[len(b)-1], err, out)
		}
	}
	return p, nil
})

func build(t *testing.T) programs {
	t.Helper()
	p, err := built()
	must(t, err)
	return p
}

// run runs a program on this machine and returns what it printed.
func run(t *testing.T, program string, args ...string) []byte {
	t.Helper()
	out, err := tryRun(t.Context(), program, args...)
	must(t, err)
	return out
}

func tryRun(ctx context.Context, program string, args ...string) ([]byte, error) {
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
