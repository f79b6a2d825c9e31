package durable_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
)

func TestWriteSetsTheModeWhateverTheUmask(t *testing.T) {
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	path := filepath.Join(t.TempDir(), "a", "b", "config.yaml")
	must(t, durable.MkdirAll(filepath.Dir(path), 0o755))
	must(t, durable.WriteFile(path, []byte("one"), 0o644))
	must(t, durable.WriteFile(path, []byte("two"), 0o640))
	wantText(t, path, "two")
	for at, want := range map[string]os.FileMode{path: 0o640, filepath.Dir(path): 0o755 | os.ModeDir} {
		if info, err := os.Stat(at); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v (%v), want %v", at, info.Mode(), err, want)
		}
	}
	wantNames(t, filepath.Dir(path), "config.yaml")
}

func TestWriteWithAttributesSetsTheOwnerAndKeepsSetuid(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can change the owner of a file")
	}
	path := filepath.Join(t.TempDir(), "file")
	owner := durable.Owner{UID: 12345, GID: 54321}
	must(t, durable.WriteFileWith(path, []byte("x"), durable.Attributes{Mode: 0o755 | os.ModeSetuid, Owner: owner}))
	info, err := os.Stat(path)
	must(t, err)
	if durable.OwnerOf(info) != owner || info.Mode() != 0o755|os.ModeSetuid {
		t.Errorf("the file has owner %v and mode %v", durable.OwnerOf(info), info.Mode())
	}
}

func TestWriteDoesNotFollowSymlinks(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "victim"), "mine")
	must(t, os.Symlink("victim", durable.Temp(filepath.Join(dir, "file"))))
	must(t, os.Symlink("victim", filepath.Join(dir, "file")))
	must(t, durable.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600))
	wantText(t, filepath.Join(dir, "victim"), "mine")
	wantText(t, filepath.Join(dir, "file"), "text")
}

func TestFailedWriteKeepsTheOldFileAndLeavesNoOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "old")
	durabletest.FailFiles(t, unix.ENOSPC)
	wantFailure(t, durable.WriteFile(path, []byte("new"), 0o600), refitv1alpha1.FailureManualIntervention, "DiskFull")
	durabletest.FailFiles(t, unix.EIO)
	wantFailure(t, durable.WriteFile(path, []byte("new"), 0o600), refitv1alpha1.FailureHostBroken, "DiskBroken")
	wantText(t, path, "old")
	wantNames(t, filepath.Dir(path), "file")
}

func TestRelativePathsAreRefused(t *testing.T) {
	for _, path := range []string{"", "file", "./file", "/a/../b", "/a/", "//a"} {
		for name, err := range map[string]error{
			"WriteFile": durable.WriteFile(path, nil, 0o600), "MkdirAll": durable.MkdirAll(path, 0o700), "Remove": durable.Remove(path),
		} {
			if err == nil {
				t.Errorf("%s accepts %q", name, path)
			}
		}
	}
}

func TestRemoveOfAnAbsentFileSucceeds(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "x")
	must(t, durable.Remove(filepath.Join(dir, "file")))
	must(t, durable.Remove(filepath.Join(dir, "file")))
	must(t, durable.Remove(filepath.Join(dir, "no", "such", "file")))
}

func TestMkdirAllRefusesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "x")
	if err := durable.MkdirAll(filepath.Join(path, "dir"), 0o700); err == nil {
		t.Error("a directory was created below a file")
	}
	if err := durable.MkdirAll(path, 0o700); err == nil {
		t.Error("a file passes as a directory")
	}
}
