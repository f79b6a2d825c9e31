package steps

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/packages"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// staged returns the copies beside a file.
func staged(t *testing.T, path string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	must(t, err)
	return slices.DeleteFunc(found, func(name string) bool { return name == path })
}

func TestStageCopiesBesideTheOldFileAndChangesNothing(t *testing.T) {
	h, _, plugin := fetchingHost(t)
	must(t, fetch(t.Context(), h))
	path := filepath.Join(t.TempDir(), "bridge")
	put(t, path, "old")
	must(t, os.Chmod(path, 0o750))
	must(t, h.writeJSON(inventoryFile, inventory{Files: []file{{Part: plugin.Part, Name: plugin.Name, Path: path, Was: digestOf([]byte("old")), Will: plugin.Digest}}}))
	must(t, stage(t.Context(), h))
	wantText(t, path, "old")
	copies := staged(t, path)
	if len(copies) != 1 {
		t.Fatalf("beside the old file: %v", copies)
	}
	if digest, err := host.Digest(copies[0]); err != nil || digest != plugin.Digest {
		t.Errorf("%s has the digest %s, %v", copies[0], digest, err)
	}
	if info, err := os.Stat(copies[0]); err != nil || info.Mode() != 0o750 {
		t.Errorf("%s has mode %v, %v", copies[0], info.Mode(), err)
	}
}

// The refusal of images without this platform is for the prefetch of a new upgrade.
func TestStageDoesNotRequireImages(t *testing.T) {
	h, _, plugin := fetchingHost(t)
	must(t, fetch(t.Context(), h))
	h.Release.Payload.Images = []refitv1alpha1.ReleaseImage{{Name: "kube-proxy", OS: "linux", Arch: "s390x"}}
	path := filepath.Join(t.TempDir(), "bridge")
	must(t, h.writeJSON(inventoryFile, inventory{Files: []file{{Part: plugin.Part, Name: plugin.Name, Path: path, Will: plugin.Digest}}}))
	must(t, stage(t.Context(), h))
	if blobs, err := h.Blobs(); err != nil || len(blobs) != 1 {
		t.Errorf("Blobs() = %v, %v", blobs, err)
	}
}

func TestStageSkipsAFileThatIsNewAlready(t *testing.T) {
	h, source, plugin := fetchingHost(t)
	path := filepath.Join(t.TempDir(), "bridge")
	put(t, path, string(binary(t)))
	must(t, h.writeJSON(inventoryFile, inventory{Files: []file{{Part: plugin.Part, Name: plugin.Name, Path: path, Will: plugin.Digest}}}))
	must(t, os.RemoveAll(source))
	must(t, stage(t.Context(), h)) // although the store lacks it
	if copies := staged(t, path); len(copies) > 0 {
		t.Errorf("beside the new file: %v", copies)
	}
}

func TestStageTrustsNeitherTheStoreNorTheInventory(t *testing.T) {
	for situation, c := range map[string]struct {
		change func(t *testing.T, h *Host, f *file)
		reason string
	}{
		"the store was damaged": {func(t *testing.T, h *Host, f *file) {
			t.Helper()
			must(t, os.Chmod(h.Store.Path(f.Will), 0o600))
			text := binary(t)
			text[len(text)-1]++
			must(t, os.WriteFile(h.Store.Path(f.Will), text, 0o600))
		}, ""},
		"a file of another ClusterRelease": {func(_ *testing.T, _ *Host, f *file) { f.Will = digestOf([]byte("other")) }, "NotInRelease"},
	} {
		t.Run(situation, func(t *testing.T) {
			h, _, plugin := fetchingHost(t)
			must(t, fetch(t.Context(), h))
			path := filepath.Join(t.TempDir(), "bridge")
			f := file{Part: plugin.Part, Name: plugin.Name, Path: path, Will: plugin.Digest}
			c.change(t, h, &f)
			must(t, h.writeJSON(inventoryFile, inventory{Files: []file{f}}))
			err := stage(t.Context(), h)
			if err == nil || c.reason != "" && node.FailureOf(err).Reason != c.reason {
				t.Errorf("stage() = %v", err)
			}
			if copies := staged(t, path); len(copies) > 0 {
				t.Errorf("it left %v", copies)
			}
		})
	}
}

func TestToolIsExtractedFromADebianPackage(t *testing.T) {
	if _, err := host.LookPath("dpkg-deb"); err != nil {
		t.Skip("this host has no dpkg-deb")
	}
	tree, deb, into := t.TempDir(), filepath.Join(t.TempDir(), "kubeadm.deb"), filepath.Join(t.TempDir(), "kubeadm")
	put(t, filepath.Join(tree, "DEBIAN", "control"), "Package: kubeadm\nVersion: 1.36.3-1.1\nArchitecture: all\nMaintainer: a <a@example.com>\nDescription: test\n")
	must(t, os.Chmod(filepath.Join(tree, "DEBIAN"), 0o755))
	put(t, filepath.Join(tree, "usr/bin/kubeadm"), "new")
	_, err := host.Run(t.Context(), nil, "dpkg-deb", "--build", tree, deb)
	must(t, err)
	put(t, filepath.Join(into, "usr/bin/kubeadm"), "left by an interrupted attempt")
	put(t, filepath.Join(into, "usr/bin/other"), "left by an interrupted attempt")
	from, err := unpack(t.Context(), packages.Deb(), deb, into, "kubeadm")
	must(t, err)
	wantText(t, from, "new")
	if exists(filepath.Join(into, "usr/bin/other")) {
		t.Error("a file of an earlier attempt is still there")
	}
	to := filepath.Join(t.TempDir(), "bin", "kubeadm")
	must(t, copyTool(from, to))
	wantText(t, to, "new")
	if info, err := os.Stat(to); err != nil || info.Mode() != 0o700 {
		t.Errorf("%s has mode %v, %v: only root runs it", to, info.Mode(), err)
	}
}
