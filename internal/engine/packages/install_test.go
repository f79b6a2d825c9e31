package packages

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func reason(t *testing.T, err error) string {
	t.Helper()
	var f *node.Failure
	if !errors.As(err, &f) {
		t.Fatalf("not a node.Failure: %v", err)
	}
	if f.Remedy == "" || f.Message == "" {
		t.Errorf("a failure without a remedy or message: %+v", f)
	}
	return f.Reason
}

func TestUpgradeThenInstallAgain(t *testing.T) {
	h := newHost(t)
	h.install(h.pack("kubelet", "1.35.4-1.1"))
	h.at(map[string]string{"kubelet": "1.35.4-1.1"})
	next := h.pack("kubelet", "1.36.3-1.1")
	h.install(next)
	h.install(next)
	h.at(map[string]string{"kubelet": "1.36.3-1.1", "other": ""})
	if got := h.read("/usr/bin/kubelet"); !strings.Contains(got, "1.36.3") {
		t.Errorf("the binary is %q", got)
	}
}

func TestSecondInstallRunsNoScripts(t *testing.T) {
	h := newHost(t)
	file := h.pack("kubelet", "1.35.4-1.1", part{"postinst", "#!/bin/sh\necho ran >> $DPKG_ROOT/ran\n"})
	h.install(file)
	h.install(file)
	if got := h.read("/ran"); got != "ran\n" {
		t.Errorf("the script ran %q", got)
	}
}

func TestChangedConfigurationIsKept(t *testing.T) {
	h := newHost(t)
	h.install(h.pack("kubelet", "1.35.4-1.1"))
	h.write("/etc/kubelet.conf", "mine\n")
	h.install(h.pack("kubelet", "1.36.3-1.1"))
	if got := h.read("/etc/kubelet.conf"); got != "mine\n" {
		t.Errorf("the configuration is %q", got)
	}
	h.at(map[string]string{"kubelet": "1.36.3-1.1"})
}

func TestHoldIsRestored(t *testing.T) {
	h := newHost(t)
	h.install(h.pack("kubelet", "1.35.4-1.1"), h.pack("kubeadm", "1.35.4-1.1"))
	h.must(h.dpkg(t.Context(), "kubelet hold\n", "--set-selections"))
	next := []string{h.pack("kubelet", "1.36.3-1.1"), h.pack("kubeadm", "1.36.3-1.1")}
	h.must(h.Install(t.Context(), next, Options{Hold: []string{"kubelet", "elsewhere"}}))
	held, err := h.Held(t.Context())
	h.must(err)
	if !slices.Equal(held, []string{"kubelet"}) {
		t.Errorf("held: %v", held)
	}
}

// A kill between the two dpkg calls leaves the packages installed and not held.
func TestHoldIsRestoredAfterAKill(t *testing.T) {
	h := newHost(t)
	file := h.pack("kubelet", "1.36.3-1.1")
	h.install(file)
	h.must(h.Install(t.Context(), []string{file}, Options{Hold: []string{"kubelet"}}))
	if held, _ := h.Held(t.Context()); !slices.Equal(held, []string{"kubelet"}) {
		t.Errorf("held: %v", held)
	}
}

func TestOnlyARollbackInstallsALowerVersion(t *testing.T) {
	h := newHost(t)
	old := h.pack("kubelet", "1.35.4-1.1")
	h.install(h.pack("kubelet", "1.36.3-1.1"))
	if got := reason(t, h.Install(t.Context(), []string{old}, Options{})); got != "DowngradeRefused" {
		t.Errorf("reason %s", got)
	}
	h.at(map[string]string{"kubelet": "1.36.3-1.1"})
	h.rollBack(old)
	h.at(map[string]string{"kubelet": "1.35.4-1.1"})
}

func TestUnmetDependencyIsRefusedBeforeTheFirstChange(t *testing.T) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		t.Skip("apt-get is not installed")
	}
	h := newHost(t)
	h.install(h.pack("kubelet", "1.35.4-1.1"))
	needs := "Package: kubelet\nVersion: 2\nArchitecture: all\nMaintainer: A <a@example.invalid>\nDepends: nowhere (>= 2)\nDescription: a test\n"
	err := h.Install(t.Context(), []string{h.pack("kubelet", "2", part{"control", needs})}, Options{})
	if got := reason(t, err); got != "UnmetDependencies" {
		t.Errorf("reason %s", got)
	}
	if !strings.Contains(node.FailureOf(err).LogTail+err.Error(), "nowhere") {
		t.Errorf("the dependency is not named: %v %s", err, node.FailureOf(err).LogTail)
	}
	h.at(map[string]string{"kubelet": "1.35.4-1.1"})
}

func TestFailureHasTheLogOfTheScript(t *testing.T) {
	h := newHost(t)
	err := h.Install(t.Context(), []string{h.pack("kubelet", "1", part{"postinst", "#!/bin/sh\necho the disk is upside down; exit 3\n"})}, Options{})
	if got := reason(t, err); got != "InstallFailed" {
		t.Errorf("reason %s", got)
	}
	if f := node.FailureOf(err); !strings.Contains(f.LogTail, "upside down") {
		t.Errorf("the log is %q", f.LogTail)
	}
}

func TestScriptsGetACleanEnvironment(t *testing.T) {
	t.Setenv("SECRET", "of the agent")
	h := newSerialHost(t)
	h.install(h.pack("kubelet", "1", part{"postinst", "#!/bin/sh\nenv > $DPKG_ROOT/env\n"}))
	env := h.read("/env")
	if !strings.Contains(env, "SYSTEMD_OFFLINE=1\n") || strings.Contains(env, "SECRET") {
		t.Errorf("the environment of scripts: %s", env)
	}
}

func TestTwoFilesOfOnePackageAreRefused(t *testing.T) {
	h := newHost(t)
	err := h.Install(t.Context(), []string{h.pack("kubelet", "1"), h.pack("kubelet", "2")}, Options{})
	if got := reason(t, err); got != "DuplicatePackage" {
		t.Errorf("reason %s", got)
	}
}

func TestTruncatedFileChangesNothing(t *testing.T) {
	h := newHost(t)
	h.install(h.pack("kubelet", "1"))
	next := h.pack("kubelet", "2")
	info, err := os.Stat(next)
	h.must(err)
	h.must(os.Truncate(next, info.Size()/2))
	if err := h.Install(t.Context(), []string{next}, Options{}); err == nil {
		t.Error("a truncated file was installed")
	}
	h.at(map[string]string{"kubelet": "1"})
}

// lockElsewhere locks a file in another process, as another package manager does.
func lockElsewhere(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Skip("perl is not installed")
	}
	script := `use Fcntl; $| = 1; open(F, ">>", $ARGV[0]) or die; my $l = pack("s s l! l! i", F_WRLCK, 0, 0, 0, 0);
		fcntl(F, F_SETLK, $l) or die $!; print "ok\n"; sleep 60;`
	cmd := exec.CommandContext(t.Context(), perl, "-e", script, path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal("the other process cannot lock")
	}
	return cmd
}

func TestLockTimeoutNamesTheOtherPackageManager(t *testing.T) {
	for _, file := range []string{"lock-frontend", "lock"} {
		t.Run(file, func(t *testing.T) {
			h := newHost(t)
			h.lockTimeout = 300 * time.Millisecond
			lockElsewhere(t, filepath.Join(h.admin, file))
			err := h.Install(t.Context(), []string{h.pack("kubelet", "1")}, Options{})
			if got := reason(t, err); got != "PackagesLocked" {
				t.Fatalf("reason %s", got)
			}
			f := node.FailureOf(err)
			if f.Class != refitv1alpha1.FailureTransient || !f.NoRollback || !strings.Contains(f.Message, "(perl)") {
				t.Errorf("%+v", f)
			}
			h.at(map[string]string{"kubelet": ""})
		})
	}
}

func TestInstallWaitsForTheOtherPackageManager(t *testing.T) {
	h := newHost(t)
	other := lockElsewhere(t, filepath.Join(h.admin, "lock-frontend"))
	go func() {
		time.Sleep(500 * time.Millisecond)
		_ = other.Process.Kill()
	}()
	h.install(h.pack("kubelet", "1"))
	h.at(map[string]string{"kubelet": "1"})
}

// dpkg finishes, Install returns the context's error, and the next call has nothing to do.
func TestAgentStopsDuringAnInstallation(t *testing.T) {
	h := newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	file := h.pack("kubelet", "1", part{"postinst", "#!/bin/sh\ntouch $DPKG_ROOT/started; sleep 1\n"})
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(h.root, "started")); err == nil {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if err := h.Install(ctx, []string{file}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	h.at(map[string]string{"kubelet": "1"})
}
