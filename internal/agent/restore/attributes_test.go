package restore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
)

func TestManifestsKeepTheirAttributesThroughARestore(t *testing.T) {
	m := newBed(t, "cp-1").hosts["cp-1"]
	before := map[string]durable.Attributes{}
	for _, component := range []string{"etcd", "kube-apiserver"} {
		path := m.path("manifests", component+".yaml")
		must(t, os.Chmod(path, 0o640))
		if err := unix.Setxattr(path, "user.origin", []byte(component), 0); !errors.Is(err, unix.ENOTSUP) {
			must(t, err)
		}
		found, err := durable.AttributesOf(path)
		must(t, err)
		before[path] = found
	}
	_, _, err := m.restore(t, Request{}, "")
	must(t, err)
	for path, want := range before {
		got, err := durable.AttributesOf(path)
		must(t, err)
		if missing := want.Missing(got); len(missing) > 0 {
			t.Errorf("%s lacks %v", path, missing)
		}
	}
}

// A replaced member is removed from etcd before its manifest is written.
func TestAManifestInAReadOnlyDirectoryIsRefused(t *testing.T) {
	if !durabletest.PrivateMounts(t) {
		return
	}
	b := newBed(t, "cp-1", "cp-2", "cp-3")
	b.running["cp-2"], b.running["cp-3"] = "live", "live"
	m := b.hosts["cp-1"]
	must(t, os.Mkdir(m.path("site"), 0o700))
	must(t, os.Rename(m.path("manifests", "etcd.yaml"), m.path("site", "etcd.yaml")))
	must(t, os.Symlink(m.path("site", "etcd.yaml"), m.path("manifests", "etcd.yaml")))
	release := durabletest.MountReadOnly(t, m.path("site"))
	before := tree(t, m.root)
	if _, _, err := m.restore(t, Request{}, ""); err == nil || err.Error() != "ManifestReadOnly" || b.learner != "" {
		t.Errorf("%v, learner %q", err, b.learner)
	}
	if after := tree(t, m.root); after != before {
		t.Errorf("changed to\n%s\nfrom\n%s", after, before)
	}
	release()
	if _, _, err := m.restore(t, Request{}, ""); err != nil || b.learner != "cp-1" {
		t.Errorf("writable: %v, learner %q", err, b.learner)
	}
}

func TestManifestsThatAreSymlinksStaySymlinks(t *testing.T) {
	for _, relative := range []bool{false, true} {
		m := newBed(t, "cp-1").hosts["cp-1"]
		links := map[string]string{}
		must(t, os.Mkdir(m.path("site"), 0o700))
		for _, component := range []string{"etcd", "kube-apiserver"} {
			path, target := m.path("manifests", component+".yaml"), m.path("site", component+".yaml")
			must(t, os.Rename(path, target))
			if relative {
				target = filepath.Join("..", "site", component+".yaml")
			}
			must(t, os.Symlink(target, path))
			links[path] = target
		}
		before, err := os.ReadFile(m.path("site", "kube-apiserver.yaml"))
		must(t, err)
		_, _, err = m.restore(t, Request{}, "")
		must(t, err)
		for path, want := range links {
			if got, err := os.Readlink(path); err != nil || got != want {
				t.Errorf("%s leads to %q, want %q: %v", path, got, want, err)
			}
		}
		if after, err := os.ReadFile(m.path("manifests", "kube-apiserver.yaml")); err != nil || !bytes.Equal(after, before) {
			t.Errorf("the manifest has %q, %v", after, err)
		}
	}
}
