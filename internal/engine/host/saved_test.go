package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
)

// etc is the configuration of a host, and the directory that it is saved in.
func etc(t *testing.T, dir string) (root, saved string, paths []string) {
	t.Helper()
	root, saved = filepath.Join(dir, "etc"), filepath.Join(dir, "saved")
	put(t, filepath.Join(root, "config.yaml"), "config old", 0o600)
	put(t, filepath.Join(root, "flags.env"), "flags", 0o644)
	put(t, filepath.Join(root, "kubelet.conf"), "conf", 0o640)
	must(t, os.Symlink("kubelet.conf", filepath.Join(root, "link.conf")))
	return root, saved, []string{
		filepath.Join(root, "config.yaml"), filepath.Join(root, "flags.env"), filepath.Join(root, "kubelet.conf"),
		filepath.Join(root, "link.conf"), filepath.Join(root, "absent.env"),
	}
}

func load(t *testing.T, dir string) *Saved {
	t.Helper()
	s, err := LoadSaved(dir)
	must(t, err)
	return s
}

func TestConfigurationIsSaved(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	must(t, Save(saved, paths))
	s := load(t, saved)
	config := filepath.Join(root, "config.yaml")
	if text, err := s.Read(config); err != nil || string(text) != "config old" {
		t.Errorf("%q, %v", text, err)
	}
	wantText(t, s.Copy(config), "config old")
	absent := filepath.Join(root, "absent.env")
	if e, ok := s.Entry(absent); !ok || !e.Absent || s.Copy(absent) != "" {
		t.Errorf("%+v", e)
	}
	if _, err := s.Read(absent); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if e, ok := s.Entry(filepath.Join(root, "link.conf")); !ok || e.Link != "kubelet.conf" {
		t.Errorf("%+v", e)
	}
}

func TestSecondSaveChangesNothing(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	config := filepath.Join(root, "config.yaml")
	must(t, Save(saved, paths[1:]))
	put(t, filepath.Join(root, "flags.env"), "new", 0o644)
	must(t, Save(saved, paths))
	s := load(t, saved)
	if text, err := s.Read(filepath.Join(root, "flags.env")); err != nil || string(text) != "flags" {
		t.Errorf("what is to be kept was lost: %q %v", text, err)
	}
	if text, err := s.Read(config); err != nil || string(text) != "config old" {
		t.Errorf("what was not saved yet is not saved now: %q %v", text, err)
	}
}

func TestDirectoryIsNotSaved(t *testing.T) {
	root, saved, _ := etc(t, t.TempDir())
	if err := Save(saved, []string{root}); err == nil {
		t.Error("a directory was saved, and could be rolled back as a whole")
	}
}

func TestInterruptedSaveIsIgnored(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	if _, err := LoadSaved(saved); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	durabletest.FailDirs(t, unix.EIO)
	wantFailure(t, Save(saved, paths), refitv1alpha1.FailureHostBroken, "DiskBroken")
	if _, err := LoadSaved(saved); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
	durabletest.FailDirs(t, nil)
	must(t, Save(saved, paths))
	if text, err := load(t, saved).Read(filepath.Join(root, "flags.env")); err != nil || string(text) != "flags" {
		t.Errorf("%q, %v", text, err)
	}
}

// An index that is written before the copies would name missing files.
func TestCopiesReachTheDiskBeforeTheirIndex(t *testing.T) {
	_, saved, paths := etc(t, t.TempDir())
	before := false
	durabletest.SyncDir(t, func(dir string, sync func(string) error) error {
		if dir == saved && len(names(t, saved)) == 3 && read(t, filepath.Join(saved, indexName)) == "absent" {
			before = true
		}
		return sync(dir)
	})
	must(t, Save(saved, paths))
	if !before {
		t.Error("the names of the copies were not brought to the disk first")
	}
}

func TestDamagedIndexIsRefused(t *testing.T) {
	_, saved, paths := etc(t, t.TempDir())
	must(t, Save(saved, paths))
	path := filepath.Join(saved, indexName)
	text := read(t, path)
	for name, bad := range map[string]string{"cut": text[:len(text)/2], "another owner": strings.Replace(text, `"uid":`, `"uid":1`, 1), "empty": ""} {
		put(t, path, bad, 0o600)
		_, err := LoadSaved(saved)
		if wantFailure(t, err, refitv1alpha1.FailureHostBroken, "SavedDamaged"); t.Failed() {
			t.Log(name)
		}
	}
}

// The saved state of another version of the agent is either supported or rejected before any
// change.
func TestStateOfAnotherFormatIsRefused(t *testing.T) {
	_, saved, paths := etc(t, t.TempDir())
	must(t, Save(saved, paths))
	path := filepath.Join(saved, indexName)
	text := read(t, path)
	put(t, path, strings.Replace(text, `"format":2`, `"format":4`, 1), 0o600)
	_, err := LoadSaved(saved)
	wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "SavedTooNew")
	put(t, path, `{"format":1,"paths":["/etc/kubernetes/pki"],"entries":[{"path":"/etc/kubernetes/pki","dir":true,"uid":0,"gid":0}],"digest":"x"}`, 0o600)
	_, err = LoadSaved(saved)
	wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "SavedTooOld")
	wantFailure(t, Save(saved, paths), refitv1alpha1.FailureManualIntervention, "SavedTooOld")
	called := false
	wantFailure(t, Track(saved, paths, func() error { called = true; return nil }), refitv1alpha1.FailureManualIntervention, "SavedTooOld")
	if called {
		t.Error("the change was made without a record of it")
	}
}

func TestCopiesAreReadableByRootOnly(t *testing.T) {
	_, saved, paths := etc(t, t.TempDir())
	must(t, Save(saved, paths))
	if info, err := os.Stat(saved); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	for _, name := range names(t, saved) {
		if info, err := os.Stat(filepath.Join(saved, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

func TestHugeFileIsRefused(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	must(t, os.Truncate(filepath.Join(root, "config.yaml"), maxSaved+1))
	wantFailure(t, Save(saved, paths), refitv1alpha1.FailureManualIntervention, "TooLargeToSave")
}
