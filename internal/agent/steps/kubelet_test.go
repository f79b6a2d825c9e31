package steps

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// fakeServices records the calls, and fails as a test configures.
type fakeServices struct {
	state   func() host.Unit
	restart error
	calls   []string
}

func (f *fakeServices) Unit(context.Context, string) (host.Unit, error) { return f.state(), nil }
func (f *fakeServices) Reload(context.Context) error {
	f.calls = append(f.calls, "reload")
	return nil
}

func (f *fakeServices) Restart(_ context.Context, unit string) error {
	f.calls = append(f.calls, "restart "+unit)
	return f.restart
}

// binaryHost is a host with staged binaries of a part and a member of etcd that may restart. Its
// services do not start again, so that a step ends there.
func binaryHost(t *testing.T, parts ...refitv1alpha1.Part) (h *Host, files []file, f *fakeQuorum, s *fakeServices) {
	t.Helper()
	dir := t.TempDir()
	for _, path := range []*string{&kubeletFlags, &kubeletDefaults, &kubeletSysconfig, &containerdConfig} {
		was := *path
		t.Cleanup(func() { *path = was })
		*path = filepath.Join(dir, filepath.Base(filepath.Dir(was)), filepath.Base(was))
	}
	f, s = &fakeQuorum{}, &fakeServices{restart: errNoSystemd}
	h = withQuorum(t, f)
	h.Settings, h.Systemd, h.Upgrade.Parts = settings.Default(), s, parts
	for _, part := range parts {
		name := string(part)
		path, from := filepath.Join(dir, "bin", name), filepath.Join(dir, name+".released")
		put(t, path, "old "+name)
		put(t, from, "new "+name)
		must(t, host.Stage(from, path, 0o755))
		files = append(files, file{Part: part, Name: name, Path: path, Was: digestOf([]byte("old " + name)), Will: digestOf([]byte("new " + name))})
	}
	must(t, h.writeJSON(inventoryFile, inventory{Files: files}))
	return h, files, f, s
}

var errNoSystemd = errors.New("there is no systemd")

func wantFiles(t *testing.T, files []file, age string) {
	t.Helper()
	for _, f := range files {
		wantText(t, f.Path, age+" "+f.Name)
	}
}

// A member of etcd that became unhealthy must not leave a host with the files of two versions.
func TestKubeletIsNotInstalledWithoutAQuorum(t *testing.T) {
	h, files, f, s := binaryHost(t, kubeletParts...)
	f.others = node.Transient("EtcdNoQuorum", nil, "-", "another member is down")
	err := swapKubelet(t.Context(), h)
	if err == nil || !node.FailureOf(err).NoRollback {
		t.Errorf("error %v", err)
	}
	wantFiles(t, files, "old")
	if len(s.calls) > 0 {
		t.Errorf("systemd was called: %q", s.calls)
	}
}

// The quorum is checked again right before the restart. By then the files are installed, so the
// failure must be able to roll the host back, also when the step is repeated.
func TestKubeletThatIsInstalledRollsBackWithoutAQuorum(t *testing.T) {
	h, files, f, s := binaryHost(t, kubeletParts...)
	f.fails = 2 // the check before the restart
	for _, attempt := range []string{"right before the restart", "when the step is repeated"} {
		err := swapKubelet(t.Context(), h)
		if err == nil || node.FailureOf(err).NoRollback {
			t.Errorf("%s: error %v", attempt, err)
		}
		f.fails = 1
	}
	wantFiles(t, files, "new")
	if slices.Contains(s.calls, "restart "+kubeletUnit) {
		t.Errorf("the kubelet was restarted: %q", s.calls)
	}
	must(t, h.reinstall(t.Context(), kubeletParts...))
	wantFiles(t, files, "old")
}

// The agent can die before and after each change of the step.
func TestInterruptedSwapOfTheKubelet(t *testing.T) {
	step := func(t *testing.T) (*Host, func() error, []file) {
		t.Helper()
		h, files, _, _ := binaryHost(t, kubeletParts...)
		put(t, kubeletFlags, `KUBELET_KUBEADM_ARGS="--pod-infra-container-image=registry.k8s.io/pause:3.9 --v=2"`)
		return h, func() error { return swapKubelet(t.Context(), h) }, files
	}
	h, run, _ := step(t)
	for _, point := range pointsOf(t, h, run) {
		t.Run(point, func(t *testing.T) {
			h, run, files := step(t)
			killAt(t, h, point, run)
			if err := run(); !errors.Is(err, errNoSystemd) { // the end of the step in this test
				t.Fatalf("the repeated step: %v", err)
			}
			wantFiles(t, files, "new")
			killAt(t, h, "undo-kubelet:after", func() error { return undoKubelet(t.Context(), h) })
			if err := undoKubelet(t.Context(), h); !errors.Is(err, errNoSystemd) {
				t.Fatalf("the repeated undo: %v", err)
			}
			wantFiles(t, files, "old")
		})
	}
}

// A package can replace and drop the file with the flags of the operator.
func TestUndoOfTheKubeletRestoresTheConfigurationOfItsPackage(t *testing.T) {
	h, _, _, _ := binaryHost(t, kubeletParts...)
	for _, path := range []string{kubeletDefaults, kubeletSysconfig} {
		put(t, path, "of the operator")
		must(t, h.track(packagedConfig(), func() error { return os.Remove(path) }))
	}
	if err := swapKubelet(t.Context(), h); !errors.Is(err, errNoSystemd) {
		t.Fatal(err)
	}
	if err := undoKubelet(t.Context(), h); !errors.Is(err, errNoSystemd) {
		t.Fatal(err)
	}
	for _, path := range []string{kubeletDefaults, kubeletSysconfig} {
		wantText(t, path, "of the operator")
	}
}

// A rollback must not take a change of an administrator with it.
func TestUndoOfTheKubeletKeepsWhatOthersChanged(t *testing.T) {
	h, files, _, _ := binaryHost(t, kubeletParts...)
	put(t, kubeletDefaults, "of the package")
	must(t, h.track([]string{kubeletDefaults}, func() error { put(t, kubeletDefaults, "of the new package"); return nil }))
	if err := swapKubelet(t.Context(), h); !errors.Is(err, errNoSystemd) {
		t.Fatal(err)
	}
	put(t, kubeletDefaults, "of an administrator")
	put(t, files[2].Path, "another kubectl")
	if err := undoKubelet(t.Context(), h); !errors.Is(err, errNoSystemd) {
		t.Fatal(err)
	}
	wantFiles(t, files[:2], "old")
	wantText(t, files[2].Path, "another kubectl")
	wantText(t, kubeletDefaults, "of an administrator")
	if want := []string{kubeletDefaults + ": " + changedSince}; !slices.Equal(h.Left, want) {
		t.Errorf("reported %q, want %q", h.Left, want)
	}
}

// The old kubeadm wrote flags that the new kubelet rejects. The undo restores them.
func TestRemovedFlagsAreStrippedAndRestored(t *testing.T) {
	const flags = `KUBELET_KUBEADM_ARGS="--pod-infra-container-image=registry.k8s.io/pause:3.9 --v=2"`
	h, _, _, _ := binaryHost(t, kubeletParts...)
	put(t, kubeletFlags, flags)
	for range 2 {
		must(t, h.stripFlags())
	}
	text, err := os.ReadFile(kubeletFlags)
	must(t, err)
	if strings.Contains(string(text), "pod-infra-container-image") || !strings.Contains(string(text), "--v=2") {
		t.Errorf("the flags are %q", text)
	}
	must(t, h.rollback("kubelet", kubeletFlags))
	wantText(t, kubeletFlags, flags)
}

func TestKubeletThatKeepsExitingFails(t *testing.T) {
	h, _, _, s := binaryHost(t, kubeletParts...)
	restarts := 0
	s.state = func() host.Unit {
		restarts++
		return host.Unit{Sub: "auto-restart", Active: "activating", Restarts: restarts, ExecStatus: 1}
	}
	err := h.proveKubelet(t.Context(), "v1.36.3")
	failure := node.FailureOf(err)
	if failure.Reason != "KubeletUnhealthy" || failure.NoRollback || !strings.Contains(failure.Error(), "status 1") {
		t.Errorf("%v", err)
	}
}

func TestHealthEndpointOfTheKubeletFollowsItsConfiguration(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "kubelet-config.yaml")
	put(t, elsewhere, "healthzPort: 10258\nhealthzBindAddress: 10.0.0.1\n")
	all := filepath.Join(t.TempDir(), "kubelet-config.yaml")
	put(t, all, "healthzBindAddress: 0.0.0.0\n")
	for args, want := range map[string]string{
		"--config=" + elsewhere: "http://10.0.0.1:10258/healthz",
		"--config " + all:       "http://127.0.0.1:10248/healthz",
		"--v=2":                 "http://127.0.0.1:10248/healthz",
	} {
		if got := kubeletHealthz(strings.Fields("kubelet " + args)); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	if got := argsOf(os.Getpid()); !slices.Equal(got, os.Args) {
		t.Errorf("the arguments of this process are %q, want %q", got, os.Args)
	}
}
