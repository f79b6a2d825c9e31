package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// These tests run if systemd is PID 1, as in a node of the testbed.

func systemd(t *testing.T) *Systemd {
	t.Helper()
	if _, err := os.Stat("/run/systemd/private"); err != nil || os.Getuid() != 0 {
		t.Skip("systemd does not run here, or we are not root")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	s, err := ConnectSystemd(ctx)
	cancel() // The context is for connecting only.
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

// unit creates a unit that is removed at the end of the test.
func unit(t *testing.T, s *Systemd, name, text string) string {
	t.Helper()
	name = "refit-test-" + name + ".service"
	path := filepath.Join("/run/systemd/system", name)
	put(t, path, text, 0o644)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
		defer cancel()
		_ = s.Stop(ctx, name)
		_, _ = Run(ctx, nil, "systemctl", "reset-failed", name)
		_ = errors.Join(os.Remove(path), os.RemoveAll(path+".d"), s.Reload(ctx))
	})
	must(t, s.Reload(t.Context()))
	return name
}

func ask(t *testing.T, s *Systemd, name string) Unit {
	t.Helper()
	u, err := s.Unit(t.Context(), name)
	must(t, err)
	return u
}

func TestServiceRestart(t *testing.T) {
	s := systemd(t)
	name := unit(t, s, "sleep", "[Service]\nEnvironment=SECONDS=1000\nEnvironmentFile=-/no/such/file\nExecStart=/bin/sleep $SECONDS\n")
	if u := ask(t, s, name); !u.Exists || u.Active != "inactive" || u.MainPID != 0 {
		t.Errorf("before: %+v", u)
	}
	began := time.Now().Add(-time.Second)
	must(t, s.Start(t.Context(), name))
	first := ask(t, s, name)
	must(t, s.Restart(t.Context(), name))
	second := ask(t, s, name)
	if first.Active != "active" || second.Sub != "running" || first.MainPID == second.MainPID || second.MainPID == 0 || second.ActiveSince.Before(began) {
		t.Errorf("%+v, then %+v", first, second)
	}
	if !slices.Equal(second.ExecStart, []string{"/bin/sleep", "$SECONDS"}) || !slices.Equal(second.Environment, []string{"SECONDS=1000"}) ||
		!slices.Equal(second.EnvironmentFiles, []string{"/no/such/file"}) || second.FragmentPath != "/run/systemd/system/"+name {
		t.Errorf("%+v", second)
	}
	dropIn := second.FragmentPath + ".d/10.conf"
	put(t, dropIn, "[Service]\nExecStart=\nExecStart=/bin/sleep 2000\n", 0o644)
	if u := ask(t, s, name); !u.Stale {
		t.Errorf("systemd has not read the drop-in, and nobody says so: %+v", u)
	}
	must(t, s.Reload(t.Context()))
	if u := ask(t, s, name); u.Stale || !slices.Equal(u.ExecStart, []string{"/bin/sleep", "2000"}) || !slices.Equal(u.DropIns, []string{dropIn}) {
		t.Errorf("%+v", u)
	}
	must(t, s.Stop(t.Context(), name))
	if u := ask(t, s, name); u.Active != "inactive" {
		t.Errorf("%+v", u)
	}
}

func TestServiceThatCannotStartIsReportedWithItsLog(t *testing.T) {
	s := systemd(t)
	name := unit(t, s, "broken", "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo unknown flag: --pod-infra-container-image; exit 3'\n")
	err := s.Restart(t.Context(), name)
	wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "ServiceFailed")
	failure := node.FailureOf(err)
	if !strings.Contains(failure.LogTail, "unknown flag: --pod-infra-container-image") || !strings.Contains(failure.Message, "exit status 3") {
		t.Errorf("%q, log %q", failure.Message, failure.LogTail)
	}
	if u := ask(t, s, name); u.Active != "failed" || u.ExecStatus != 3 || u.Result != "exit-code" {
		t.Errorf("%+v", u)
	}
}

func TestServiceThatHitItsStartLimitCanBeStartedAgain(t *testing.T) {
	s := systemd(t)
	for verb, start := range map[string]func(context.Context, string) error{"start": s.Start, "restart": s.Restart} {
		mended := filepath.Join(t.TempDir(), "mended")
		name := unit(t, s, "limit-"+verb, "[Unit]\nStartLimitIntervalSec=1000\nStartLimitBurst=2\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/ls "+mended+"\n")
		for range 3 { // by somebody else, once more than allowed
			_, _ = Run(t.Context(), nil, "systemctl", "start", name)
		}
		if u := ask(t, s, name); u.Active != "failed" {
			t.Errorf("%s: %+v", verb, u)
		}
		put(t, mended, "", 0o644)
		must(t, start(t.Context(), name))
		if u := ask(t, s, name); u.Active != "active" {
			t.Errorf("%s: %+v", verb, u)
		}
	}
}

func TestServiceThatDoesNotExist(t *testing.T) {
	s := systemd(t)
	if u := ask(t, s, "refit-test-none.service"); u.Exists {
		t.Errorf("%+v", u)
	}
	err := s.Restart(t.Context(), "refit-test-none.service")
	wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "ServiceFailed")
	if !strings.Contains(err.Error(), "there is no such unit") {
		t.Error(err)
	}
	if log := Tail(t.Context(), "refit-test-none.service", time.Now(), 10); log != "" {
		t.Errorf("it has a log: %q", log)
	}
}

func TestServiceThatNeverBecomesReady(t *testing.T) {
	s := systemd(t)
	name := unit(t, s, "hangs", "[Service]\nType=notify\nExecStart=/bin/sleep 1000\nTimeoutStopSec=1\n")
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	began := time.Now()
	err := s.Start(ctx, name)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 8*time.Second {
		t.Fatalf("%v after %v", err, time.Since(began))
	}
	wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "ServiceFailed")
	if !strings.Contains(err.Error(), "activating") {
		t.Error(err)
	}
}

func TestServiceInACrashLoop(t *testing.T) {
	s := systemd(t)
	name := unit(t, s, "loops", "[Unit]\nStartLimitIntervalSec=0\n[Service]\nExecStart=/bin/false\nRestart=always\nRestartSec=50ms\n")
	must(t, s.Start(t.Context(), name)) // For systemd, a simple service has started once it is forked.
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		u := ask(t, s, name)
		if u.Restarts >= 3 && u.ExecStatus == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v", u)
		}
	}
}

// systemd drops all connections when it re-executes itself, as an upgrade of its package does.
func TestSystemdReexecutesDuringAJob(t *testing.T) {
	s := systemd(t)
	name := unit(t, s, "slow", "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sleep 4\n")
	result := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		result <- s.Start(ctx, name)
	}()
	for ask(t, s, name).Active != "activating" {
		time.Sleep(20 * time.Millisecond)
	}
	_, err := Run(t.Context(), nil, "systemctl", "daemon-reexec")
	must(t, err)
	must(t, <-result)
	if u := ask(t, s, name); u.Active != "active" {
		t.Errorf("%+v", u)
	}
}

func TestIdentityOfThisHost(t *testing.T) {
	systemd(t)
	id, err := Identify()
	must(t, err)
	t.Logf("%+v", id)
}

func TestUnitOfTheKubelet(t *testing.T) {
	s := systemd(t)
	u := ask(t, s, "kubelet.service")
	if !u.Exists || u.Active != "active" {
		t.Skip("no kubelet runs here")
	}
	if len(u.ExecStart) < 2 || filepath.Base(u.ExecStart[0]) != "kubelet" || !slices.Contains(u.ExecStart, "$KUBELET_KUBEADM_ARGS") || len(u.DropIns) == 0 ||
		!slices.Contains(u.EnvironmentFiles, "/var/lib/kubelet/kubeadm-flags.env") || u.ActiveSince.IsZero() {
		t.Errorf("%+v", u)
	}
	if Tail(t.Context(), "kubelet.service", u.ActiveSince, 5) == "" {
		t.Error("it has no log")
	}
	must(t, s.Restart(t.Context(), "kubelet.service"))
	if again := ask(t, s, "kubelet.service"); again.MainPID == u.MainPID || again.Active != "active" {
		t.Errorf("%+v", again)
	}
}
