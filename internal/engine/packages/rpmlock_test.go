package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// lockedBy locks the host as another package manager does: rpm by a kernel lock, dnf by its number
// in a file.
func (h *rpmHost) lockedBy(manager string) *exec.Cmd {
	h.Helper()
	if manager == "rpm" {
		h.must(os.MkdirAll(h.onDisk("/var/lib/rpm"), 0o755))
		return lockElsewhere(h.T, h.onDisk("/var/lib/rpm/.rpm.lock"))
	}
	other := exec.CommandContext(h.Context(), "sleep", "60")
	h.must(other.Start())
	h.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	h.write(filepath.Join(dnfState, "rpmdb_lock.pid"), fmt.Sprint(other.Process.Pid))
	return other
}

func TestRpmLockTimeoutNamesTheOtherPackageManager(t *testing.T) {
	for manager, name := range map[string]string{"rpm": "(perl)", "dnf": "(sleep)"} {
		t.Run(manager, func(t *testing.T) {
			h := newRpmHost(t)
			file := h.pack("kubelet", "1-1")
			h.lockTimeout = 300 * time.Millisecond
			h.lockedBy(manager)
			err := h.Install(t.Context(), []string{file}, Options{})
			if got := reason(t, err); got != "PackagesLocked" {
				t.Fatalf("reason %s", got)
			}
			f := node.FailureOf(err)
			if f.Class != refitv1alpha1.FailureTransient || !f.NoRollback || !strings.Contains(f.Message, name) {
				t.Errorf("%+v", f)
			}
			h.at(map[string]string{"kubelet": ""})
		})
	}
}

func TestRpmHoldReportsWhatItWaitsFor(t *testing.T) {
	for _, manager := range []string{"rpm", "dnf"} {
		t.Run(manager, func(t *testing.T) {
			h := newRpmHost(t)
			h.lockTimeout = time.Nanosecond // bounds one call, not Hold
			other := h.lockedBy(manager)
			var reported string
			h.must(h.Hold(t.Context(), func(what string) {
				reported = what
				_, _ = other.Process.Kill(), other.Wait()
			}))
			defer h.Release()
			if !strings.Contains(reported, "waiting for process ") || !strings.Contains(reported, "the lock of rpm") {
				t.Errorf("reported %q", reported)
			}
		})
	}
}

// dnf was killed, or its host lost power, and its number belongs to another process now.
func TestRpmLockOfADnfThatIsGone(t *testing.T) {
	h := newRpmHost(t)
	h.lockedBy("dnf")
	lock := h.onDisk(filepath.Join(dnfState, "rpmdb_lock.pid"))
	yesterday := time.Now().Add(-24 * time.Hour)
	h.must(os.Chtimes(lock, yesterday, yesterday))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	h.must(h.Hold(ctx, func(what string) { t.Error(what) }))
	h.Release()
	h.free()
}

// The clock was set forward after dnf had started.
func TestRpmLockOfADnfIsKeptWhateverTheClockReads(t *testing.T) {
	h := newRpmHost(t)
	h.lockTimeout = 300 * time.Millisecond
	dnf := exec.CommandContext(t.Context(), "sh", "-c", "sleep 60; exit 0", "dnf")
	h.must(dnf.Start())
	t.Cleanup(func() { _, _ = dnf.Process.Kill(), dnf.Wait() })
	h.write(filepath.Join(dnfState, "rpmdb_lock.pid"), fmt.Sprint(dnf.Process.Pid))
	yesterday := time.Now().Add(-24 * time.Hour)
	h.must(os.Chtimes(h.onDisk(filepath.Join(dnfState, "rpmdb_lock.pid")), yesterday, yesterday))
	if got := reason(t, h.Configure(t.Context(), []string{"kubelet"})); got != "PackagesLocked" {
		t.Errorf("reason %s", got)
	}
}

func TestRpmHoldThatIsCanceledHoldsNothing(t *testing.T) {
	h := newRpmHost(t)
	h.write(filepath.Join(dnfState, "x"), "")
	other := h.lockedBy("rpm")
	ctx, cancel := context.WithCancel(t.Context())
	err := h.Hold(ctx, func(string) { cancel() })
	if !errors.Is(err, context.Canceled) || reason(t, err) != "PackagesLocked" {
		t.Errorf("error %v", err)
	}
	_, _ = other.Process.Kill(), other.Wait()
	h.free()
}

// free requires that other package managers can start.
func (h *rpmHost) free() {
	h.Helper()
	if _, err := os.Stat(h.onDisk(filepath.Join(dnfState, "rpmdb_lock.pid"))); err == nil {
		h.Error("the lock of dnf is held")
	}
	if !canLock(h.T, h.onDisk("/var/lib/rpm/.rpm.lock")) {
		h.Error("the lock of rpm is held")
	}
}

func TestRpmHoldKeepsOtherPackageManagersOutBetweenCalls(t *testing.T) {
	h := newRpmHost(t)
	h.write(filepath.Join(dnfState, "x"), "")
	for range 2 { // it is repeated before each step
		h.must(h.Hold(t.Context(), func(string) {}))
	}
	for _, version := range []string{"1-1", "2-1"} {
		h.install(h.pack("kubelet", version))
		if canLock(t, h.onDisk("/var/lib/rpm/.rpm.lock")) {
			t.Errorf("the lock was released by the installation of version %s", version)
		}
		if got := h.read(filepath.Join(dnfState, "rpmdb_lock.pid")); got != fmt.Sprint(os.Getpid()) {
			t.Errorf("the lock of dnf has %q", got)
		}
	}
	h.must(h.Configure(t.Context(), []string{"kubelet"}))
	h.Release()
	h.Release()
	h.free()
	h.install(h.pack("kubelet", "3-1"))
	h.at(map[string]string{"kubelet": "3-1"})
	h.free()
}

// rpm itself fails at once, dnf waits.
func TestRpmOfTheOperatorIsRefusedWhileTheAgentHoldsTheLock(t *testing.T) {
	h := newRpmHost(t)
	file := h.pack("other", "1-1")
	upgrade := func() error {
		_, err := h.query(t.Context(), "--upgrade", file)
		return err
	}
	h.must(h.Hold(t.Context(), func(string) {}))
	if err := upgrade(); err == nil || !strings.Contains(logOf(err), "transaction lock") {
		t.Errorf("the transaction of the operator ran: %v", err)
	}
	h.at(map[string]string{"other": ""})
	h.Release()
	h.must(upgrade())
	h.at(map[string]string{"other": "1-1"})
}

// The rpm that a killed agent started keeps the lock until it ends.
func TestRpmInheritsTheLock(t *testing.T) {
	h := newRpmHost(t)
	file := h.pack("kubelet", "1-1", "%post"+strings.ReplaceAll(waitHere, "20", "2"))
	done := make(chan error, 1)
	go func() { done <- h.Install(t.Context(), []string{file}, Options{}) }()
	for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(h.onDisk("/started")); err == nil {
			break
		}
	}
	found := false
	for _, pid := range children(t.Context(), "rpm") {
		if target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/3", pid)); err == nil && target == h.onDisk("/var/lib/rpm/.rpm.lock") {
			found = true
		}
	}
	if !found {
		t.Error("rpm has not inherited the lock")
	}
	h.must(<-done)
	h.free()
}
