package host

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/test/disk"
)

// harden gives a file attributes as on a hardened host, or skips the test where that cannot be.
func harden(t *testing.T, path, label string) durable.Attributes {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can change the owner and the label of a file")
	}
	must(t, os.Chown(path, 12345, 54321))
	must(t, os.Chmod(path, 0o750))
	for name, value := range map[string]string{"security.selinux": label, "user.origin": "golden image"} {
		err := unix.Setxattr(path, name, []byte(value), 0)
		if errors.Is(err, unix.ENOTSUP) {
			t.Skipf("the file system has no extended attributes: %v", err)
		}
		must(t, err)
	}
	found, err := durable.AttributesOf(path)
	must(t, err)
	return found
}

func wantAttributes(t *testing.T, path string, want durable.Attributes) {
	t.Helper()
	got, err := durable.AttributesOf(path)
	must(t, err)
	if missing := want.Missing(got); len(missing) > 0 || len(want.Xattrs) != len(got.Xattrs) {
		t.Errorf("%s lacks %v: %v, want %v", path, missing, got, want)
	}
}

func TestSwappedFileHasTheAttributesOfThePreviousOne(t *testing.T) {
	for name, stop := range map[string]func(t *testing.T, to string){
		"in one step":     func(*testing.T, string) {},
		"after MoveAside": func(t *testing.T, to string) { t.Helper(); must(t, MoveAside(to, sha(oldText))) },
		"from a symlink": func(t *testing.T, to string) {
			t.Helper()
			must(t, os.Rename(to, to+"-1.35"))
			must(t, os.Symlink("kubelet-1.35", to))
		},
		"hardened in time": func(t *testing.T, to string) { t.Helper(); harden(t, to, "later") },
	} {
		t.Run(name, func(t *testing.T) {
			from, to := swapIn(t, t.TempDir())
			was := harden(t, to, "system_u:object_r:kubelet_exec_t:s0")
			must(t, Stage(from, to, 0o755))
			wantAttributes(t, beside(to, newSuffix), was)
			stop(t, to)
			if found, err := durable.AttributesOf(to); err == nil {
				was = found
			}
			must(t, Swap(to, sha(oldText), sha(newText)))
			wantText(t, to, newText)
			wantAttributes(t, to, was)
			if lost, err := LostAttributes(to); err != nil || len(lost) > 0 {
				t.Errorf("lost %v, %v", lost, err)
			}
			must(t, UndoSwap(to, sha(oldText), sha(newText)))
			wantText(t, to, oldText)
			wantAttributes(t, to, was)
		})
	}
}

func TestStagedFileOfAKilledAgentGetsTheAttributes(t *testing.T) {
	from, to := swapIn(t, t.TempDir())
	must(t, Stage(from, to, 0o755))
	was := harden(t, to, "later")
	must(t, Stage(from, to, 0o755))
	wantAttributes(t, beside(to, newSuffix), was)
}

func TestLostAttributesAreListed(t *testing.T) {
	from, to := swapIn(t, t.TempDir())
	harden(t, to, "system_u:object_r:kubelet_exec_t:s0")
	must(t, Stage(from, to, 0o755))
	must(t, Swap(to, sha(oldText), sha(newText)))
	must(t, unix.Removexattr(to, "security.selinux"))
	if lost, err := LostAttributes(to); err != nil || len(lost) != 1 || lost[0] != "security.selinux" {
		t.Errorf("lost %v, %v", lost, err)
	}
}

func TestRestoredFileHasItsAttributes(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"written in place": func(t *testing.T, path string) { t.Helper(); must(t, os.WriteFile(path, []byte("new"), 0o600)) },
		"replaced": func(t *testing.T, path string) {
			t.Helper()
			put(t, path+".tmp", "new", 0o600)
			must(t, os.Rename(path+".tmp", path))
		},
		"removed": func(t *testing.T, path string) { t.Helper(); must(t, os.Remove(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := disk.New(t)
			root, saved, paths := etc(t, d.Dir)
			config := filepath.Join(root, "config.yaml")
			was := harden(t, config, "system_u:object_r:kubernetes_file_t:s0")
			must(t, Track(saved, paths, func() error { change(t, config); return nil }))
			if name != "removed" {
				wantAttributes(t, config, was)
			}
			rollback(t, saved, config)
			d.CutPower(t)
			d.Boot(t)
			wantText(t, config, "config old")
			wantAttributes(t, config, was)
			if lost, err := load(t, saved).LostAttributes(config); err != nil || len(lost) > 0 {
				t.Errorf("lost %v, %v", lost, err)
			}
		})
	}
}

func TestLabelThatWasChangedSinceIsKeptByTheRollback(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	config := filepath.Join(root, "config.yaml")
	harden(t, config, "before")
	must(t, Track(saved, paths, writes(t, map[string]string{config: "new"})))
	now := harden(t, config, "since")
	rollback(t, saved, config)
	wantText(t, config, "config old")
	wantAttributes(t, config, now)
}

// An older agent reads the index of a host without extended attributes.
func TestIndexHasTheLowestFormatThatCarriesIt(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	must(t, Save(saved, paths))
	if text := read(t, filepath.Join(saved, indexName)); text[:12] != `{"format":2,` {
		t.Errorf("got %.40s", text)
	}
	other := saved + "-2"
	harden(t, filepath.Join(root, "config.yaml"), "x")
	must(t, Save(other, paths))
	if text := read(t, filepath.Join(other, indexName)); text[:12] != `{"format":3,` {
		t.Errorf("got %.40s", text)
	}
	load(t, other)
}

// An agent that did not read extended attributes started the operation, on a host with SELinux.
func TestRecordOfFormat2RestoresModeAndOwner(t *testing.T) {
	before := Entry{Path: "/etc/file", Mode: 0o600, Digest: "sha256:a"}
	after := Entry{Path: "/etc/file", Mode: 0o644, Digest: "sha256:b"}
	now := after
	now.Xattrs = durable.Xattrs{"security.selinux": []byte("system_u:object_r:etc_t:s0")}
	r := record{Before: before, After: &after}
	if got := r.access(now); got.Mode != before.Mode {
		t.Errorf("the restored file has mode %v", got.Mode)
	}
	now.Mode = 0o400
	if got := r.access(now); got.Mode != now.Mode {
		t.Errorf("a mode that was changed since is replaced by %v", got.Mode)
	}
}

func TestFileWithoutXattrsIsNotOneWithUnknownXattrs(t *testing.T) {
	dir, saved := t.TempDir(), filepath.Join(t.TempDir(), "saved")
	hard, plain := filepath.Join(dir, "hard"), filepath.Join(dir, "plain")
	put(t, hard, "old", 0o640)
	put(t, plain, "old", 0o600)
	harden(t, hard, "etc_t")
	must(t, Track(saved, []string{hard, plain}, func() error { put(t, plain, "new", 0o600); return nil }))
	s, err := LoadSaved(saved)
	must(t, err)
	for path, known := range map[string]bool{hard: true, plain: true, filepath.Join(dir, "absent"): false} {
		if entry, _ := s.Entry(path); (entry.Xattrs != nil) != known {
			t.Errorf("the xattrs of %s are known: %v", path, entry.Xattrs != nil)
		}
	}
}
