package steps

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// fakeKubeadm makes a script the target's kubeadm of a host. It returns the file to which it
// appends its arguments.
func fakeKubeadm(t *testing.T, h *Host, script string) (calls string) {
	t.Helper()
	calls = filepath.Join(t.TempDir(), "calls")
	put(t, h.path("bin", "kubeadm"), "#!/bin/sh\necho \"$*\" >> "+calls+"\n"+script)
	must(t, os.Chmod(h.path("bin", "kubeadm"), 0o700))
	return calls
}

func callsIn(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	must(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// Every phase of kubeadm is idempotent, so an interrupted one is repeated as a whole.
func TestInterruptedPhaseIsRepeated(t *testing.T) {
	for point, want := range map[string]int{"kubeadm:before": 1, "kubeadm:after": 2} {
		t.Run(point, func(t *testing.T) {
			h := testHost(t)
			calls := fakeKubeadm(t, h, "")
			run := func() error { return phase("post-upgrade")(t.Context(), h) }
			killAt(t, h, point, run)
			must(t, run())
			got := callsIn(t, calls)
			if len(got) != want {
				t.Errorf("kubeadm ran %d times: %q", len(got), got)
			}
			if last := got[len(got)-1]; !strings.HasPrefix(last, "upgrade node") || !strings.Contains(last, kubeletConf) {
				t.Errorf("a worker runs %q", last)
			}
		})
	}
}

func TestPhaseOfTheFirstControlPlaneNode(t *testing.T) {
	h := testHost(t)
	h.Upgrade.Role = refitv1alpha1.RoleFirstControlPlane
	calls := fakeKubeadm(t, h, "")
	must(t, phase("post-upgrade")(t.Context(), h))
	if got := callsIn(t, calls); len(got) != 1 || !strings.HasPrefix(got[0], "upgrade apply") || !strings.Contains(got[0], adminConf) {
		t.Errorf("it runs %q", got)
	}
}

func TestPhaseThatFailsReportsTheOutputOfKubeadm(t *testing.T) {
	h := testHost(t)
	fakeKubeadm(t, h, "echo 'the API server is overloaded' >&2; exit 1\n")
	err := phase("post-upgrade")(t.Context(), h)
	if err == nil || !strings.Contains(node.FailureOf(err).LogTail+err.Error(), "the API server is overloaded") {
		t.Errorf("error %v", err)
	}
}

// A phase that wrote nothing, or whose file was changed since, has nothing to roll back.
func TestRollbackOfTheKubeconfig(t *testing.T) {
	valid, soon := time.Now().Add(48*time.Hour), time.Now().Add(time.Hour)
	for situation, tt := range map[string]struct {
		expires time.Time
		write   string // by the phase
		since   string
		want    string // empty for the previous content
		kept    bool
	}{
		"the phase wrote it":          {expires: valid, write: "new"},
		"the phase wrote nothing":     {expires: valid},
		"changed since":               {expires: valid, write: "new", since: "rotated", want: "rotated"},
		"the former one expires soon": {expires: soon, write: "new", want: "new", kept: true},
	} {
		t.Run(situation, func(t *testing.T) {
			h, path := testHost(t), filepath.Join(t.TempDir(), "kubelet.conf")
			former := kubeconfig(t, tt.expires)
			put(t, path, former)
			must(t, h.track([]string{path}, func() error {
				if tt.write != "" {
					put(t, path, tt.write)
				}
				return nil
			}))
			if tt.since != "" {
				put(t, path, tt.since)
			}
			for range 2 {
				if err := h.rollbackKubeconfig(path); errors.Is(err, node.ErrKept) != tt.kept || (err != nil && !tt.kept) {
					t.Errorf("error %v", err)
				}
			}
			if tt.want == "" {
				tt.want = former
			}
			wantText(t, path, tt.want)
		})
	}
}

// An operation that failed before its phase has recorded nothing of the kubelet's configuration.
func TestRollbackOfAPhaseThatDidNotRun(t *testing.T) {
	h := testHost(t)
	must(t, host.Save(h.path("saved"), nil))
	must(t, restoreKubeletConfig(t.Context(), h))
	must(t, restoreKubeconfig(t.Context(), h))
	if len(h.Left) > 0 {
		t.Errorf("reported %q", h.Left)
	}
	if err := upgradeAddons(t.Context(), h); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("add-ons without the list of those that were installed: %v", err)
	}
	if len(kubeadm.PhaseFiles(kubeadm.PhaseKubeletConfig)) == 0 {
		t.Error("the phase kubelet-config writes no file: its rollback does nothing")
	}
}
