package steps

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// fakeServices records the calls, and fails as a test configures.
type fakeServices struct {
	unit    host.Unit
	restart error
	calls   []string
}

func (f *fakeServices) Unit(context.Context, string) (host.Unit, error) { return f.unit, nil }
func (f *fakeServices) Reload(context.Context) error                    { f.calls = append(f.calls, "reload"); return nil }
func (f *fakeServices) Restart(_ context.Context, unit string) error {
	f.calls = append(f.calls, "restart "+unit)
	return f.restart
}

// binaryHost is a host with staged binaries of a part and a member of etcd that may restart. Its
// services do not start again, so that a step ends there.
func binaryHost(t *testing.T, parts ...refitv1alpha1.Part) (h *Host, files []file, f *fakeQuorum, s *fakeServices) {
	t.Helper()
	wasFlags, wasDefaults := kubeletFlags, kubeletDefaults
	t.Cleanup(func() { kubeletFlags, kubeletDefaults = wasFlags, wasDefaults })
	dir := t.TempDir()
	kubeletFlags, kubeletDefaults = filepath.Join(dir, "kubeadm-flags.env"), filepath.Join(dir, "default-kubelet")
	f, s = &fakeQuorum{}, &fakeServices{restart: errNoSystemd}
	h = withQuorum(t, f)
	h.Settings, h.Systemd, h.Upgrade.Parts = settings.Default(), s, parts
	for _, part := range parts {
		name := string(part)
		path, from := filepath.Join(dir, name), filepath.Join(dir, name+".released")
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
