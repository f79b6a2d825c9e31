//go:build e2e

package upgrade

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// Exit codes of refit.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitBlocked     = 3
	exitInterrupted = 130
)

// refit runs a refit command on this machine, which must succeed, and returns its output.
func (s *site) refit(t *testing.T, args ...string) string {
	t.Helper()
	said, err := s.tryRefit(t.Context(), args...)
	must(t, err)
	return said
}

func (s *site) tryRefit(ctx context.Context, args ...string) (string, error) {
	out, err := bed.TryRun(ctx, s.Refit, append(args, "--kubeconfig", s.KubeconfigFile())...)
	return string(out), err
}

// refused runs a refit command that must exit with this code, and returns its complete output.
func (s *site) refused(t *testing.T, code int, args ...string) string {
	t.Helper()
	_, err := s.tryRefit(t.Context(), args...)
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok || ended.ExitCode() != code {
		t.Fatalf("refit %s ended with %v, want exit code %d", strings.Join(args, " "), err, code)
	}
	return fmt.Sprint(err)
}
