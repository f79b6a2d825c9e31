package steps

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/packages"
)

// owning is a package manager that owns files.
type owning struct {
	packages.Driver
	files []string
}

func (o owning) Files(context.Context, ...string) ([]string, error) { return o.files, nil }

// mark sets an extended attribute, or skips the test where the file system has none.
func mark(t *testing.T, path string) {
	t.Helper()
	err := unix.Setxattr(path, "user.origin", []byte("golden image"), 0)
	if errors.Is(err, unix.ENOTSUP) {
		t.Skip(err)
	}
	must(t, err)
}

func xattrs(t *testing.T, path string) durable.Xattrs {
	t.Helper()
	found, err := durable.AttributesOf(path)
	must(t, err)
	return found.Xattrs
}

// dpkg writes new files and renames them over the old ones.
func TestFilesOfPackagesKeepTheirXattrs(t *testing.T) {
	h := testHost(t)
	kubelet, plain, gone := h.path("kubelet"), h.path("kubectl"), h.path("kubeadm")
	for _, path := range []string{kubelet, plain, gone} {
		put(t, path, "old")
	}
	mark(t, kubelet)
	mark(t, gone)
	before, err := packageXattrs(t.Context(), owning{files: []string{h.Dir, kubelet, plain, gone, h.path("excluded")}}, []string{"kubelet"})
	must(t, err)
	if len(before) != 2 || string(before[kubelet]["user.origin"]) != "golden image" {
		t.Fatalf("got %v", before)
	}
	must(t, os.Remove(gone))
	must(t, os.Remove(kubelet))
	put(t, kubelet, "new")
	for range 2 { // a restarted agent repeats the step
		must(t, h.restoreXattrs(before, false))
		if got := xattrs(t, kubelet); !got.Equal(before[kubelet]) {
			t.Errorf("the new file has %v", got)
		}
	}
	wantText(t, kubelet, "new")
}

// A new version that does not need a capability must not have it, and the label is the host's.
func TestCapabilityOfTheNewVersionIsItsOwn(t *testing.T) {
	h := testHost(t)
	path := h.path("containerd")
	label, old := []byte("system_u:object_r:container_runtime_exec_t:s0\x00"), []byte{1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	before := map[string]durable.Xattrs{path: {durable.CapabilityXattr: old, "security.selinux": label}}
	put(t, path, "new")
	if err := unix.Setxattr(path, "security.selinux", []byte("system_u:object_r:bin_t:s0\x00"), 0); err != nil {
		t.Skip(err)
	}
	must(t, h.restoreXattrs(before, false))
	if got := xattrs(t, path); got[durable.CapabilityXattr] != nil || !bytes.Equal(got["security.selinux"], label) {
		t.Errorf("the new file has %q", got)
	}
	must(t, h.restoreXattrs(before, true))
	if got := xattrs(t, path); !bytes.Equal(got[durable.CapabilityXattr], old) {
		t.Errorf("the old file has %q", got)
	}
}

func TestStrippedFlagsKeepTheAttributesOfTheFile(t *testing.T) {
	h := testHost(t)
	was := kubeletFlags
	t.Cleanup(func() { kubeletFlags = was })
	kubeletFlags = h.path("kubeadm-flags.env")
	put(t, kubeletFlags, `KUBELET_KUBEADM_ARGS="--pod-infra-container-image=pause:3.10 --v=2"`+"\n")
	must(t, os.Chmod(kubeletFlags, 0o640))
	mark(t, kubeletFlags)
	before, err := durable.AttributesOf(kubeletFlags)
	must(t, err)
	must(t, h.stripFlags())
	text, err := os.ReadFile(kubeletFlags)
	must(t, err)
	after, err := durable.AttributesOf(kubeletFlags)
	must(t, err)
	if missing := before.Missing(after); strings.Contains(string(text), "infra") || len(missing) > 0 {
		t.Errorf("%q lacks %v", text, missing)
	}
}

func TestAttributesThatTheHostRejectsAreReported(t *testing.T) {
	h := testHost(t)
	var log bytes.Buffer
	h.Log = slog.New(slog.NewTextHandler(&log, nil))
	from, to, config := h.path("blob"), h.path("runc"), h.path("config.yaml")
	put(t, from, "new")
	put(t, to, "old")
	put(t, config, "old")
	mark(t, to)
	mark(t, config)
	must(t, host.Stage(from, to, 0o755))
	must(t, host.Swap(to, digestOf([]byte("old")), digestOf([]byte("new"))))
	h.logLost(to)
	if log.Len() > 0 {
		t.Fatalf("nothing is lost, but: %s", log.String())
	}
	must(t, h.track([]string{config}, func() error { return os.WriteFile(config, []byte("new"), 0o600) }))
	must(t, h.rollback("config", config))
	if len(h.Left) > 0 {
		t.Fatalf("nothing is lost, but: %v", h.Left)
	}
	must(t, unix.Removexattr(to, "user.origin")) // as if it had never been accepted
	must(t, unix.Removexattr(config, "user.origin"))
	h.logLost(to)
	if !strings.Contains(log.String(), "lacks attributes") || !strings.Contains(log.String(), "user.origin") {
		t.Errorf("the log has %q", log.String())
	}
	saved, err := h.saved()
	must(t, err)
	h.reportLost(saved, []string{config})
	if len(h.Left) != 1 || !strings.Contains(h.Left[0], "user.origin") {
		t.Errorf("reported %v", h.Left)
	}
}
