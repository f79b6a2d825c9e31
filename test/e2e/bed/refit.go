package bed

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// Exit codes of refit.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitBlocked     = 3
	ExitInterrupted = 130
)

// RunRefit runs a refit command on this machine, which must succeed, and returns its output.
func (s *Site) RunRefit(t *testing.T, args ...string) string {
	t.Helper()
	out, err := s.TryRefit(t.Context(), args...)
	Must(t, err)
	return out
}

// TryRefit is RunRefit, but returns errors.
func (s *Site) TryRefit(ctx context.Context, args ...string) (string, error) {
	out, err := TryRun(ctx, s.Refit, append(args, "--kubeconfig", s.KubeconfigFile())...)
	return string(out), err
}

// Refused runs a refit command that must exit with this code, and returns its complete output.
func (s *Site) Refused(t *testing.T, code int, args ...string) string {
	t.Helper()
	_, err := s.TryRefit(t.Context(), args...)
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok || ended.ExitCode() != code {
		t.Fatalf("refit %s ended with %v, want exit code %d", strings.Join(args, " "), err, code)
	}
	return fmt.Sprint(err)
}
