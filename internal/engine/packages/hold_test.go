package packages

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// canLock reports whether another package manager could start now.
func (h *host) canLock() bool {
	h.Helper()
	return canLock(h.T, filepath.Join(h.admin, "lock-frontend"))
}

func canLock(t *testing.T, path string) bool {
	t.Helper()
	script := `use Fcntl; open(F, ">>", $ARGV[0]) or die; my $l = pack("s s l! l! i", F_WRLCK, 0, 0, 0, 0); exit(fcntl(F, F_SETLK, $l) ? 0 : 1);`
	err := exec.CommandContext(t.Context(), "perl", "-e", script, path).Run()
	if err != nil && exitCode(err) != 1 {
		t.Skip(err)
	}
	return err == nil
}

func TestHoldKeepsOtherPackageManagersOutBetweenCalls(t *testing.T) {
	h := newHost(t)
	if !h.canLock() {
		t.Fatal("the lock is not free at the start")
	}
	for range 2 { // it is repeated before each step
		h.must(h.Hold(t.Context(), func(string) {}))
	}
	for _, version := range []string{"1", "2"} {
		h.install(h.pack("kubelet", version))
		if h.canLock() {
			t.Errorf("the lock was released by the installation of version %s", version)
		}
	}
	h.must(h.Configure(t.Context(), []string{"kubelet"}))
	h.Release()
	h.Release()
	if !h.canLock() {
		t.Error("the lock is still held")
	}
	h.install(h.pack("kubelet", "3"))
	h.at(map[string]string{"kubelet": "3"})
}

func TestHoldReportsWhatItWaitsFor(t *testing.T) {
	for _, file := range []string{"lock-frontend", "lock"} {
		t.Run(file, func(t *testing.T) {
			h := newHost(t)
			h.lockTimeout = time.Nanosecond // bounds one call, not Hold
			other := lockElsewhere(t, filepath.Join(h.admin, file))
			var reported string
			h.must(h.Hold(t.Context(), func(what string) {
				reported = what
				_ = other.Process.Kill()
			}))
			defer h.Release()
			if !strings.Contains(reported, "(perl)") || !strings.Contains(reported, "waiting for process ") {
				t.Errorf("reported %q", reported)
			}
		})
	}
}

func TestHoldThatIsCanceledHoldsNothing(t *testing.T) {
	h := newHost(t)
	other := lockElsewhere(t, filepath.Join(h.admin, "lock-frontend"))
	ctx, cancel := context.WithCancel(t.Context())
	err := h.Hold(ctx, func(string) { cancel() })
	if !errors.Is(err, context.Canceled) || reason(t, err) != "PackagesLocked" {
		t.Errorf("error %v", err)
	}
	_, _ = other.Process.Kill(), other.Wait()
	if !h.canLock() {
		t.Error("the lock is held")
	}
}
