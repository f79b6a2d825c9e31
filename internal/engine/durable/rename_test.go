package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
)

func TestRenameNewRefusesATakenName(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	put(t, from, "new")
	put(t, to, "old")
	if err := durable.RenameNew(from, to); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v", err)
	}
	wantText(t, to, "old")
	must(t, os.Remove(to))
	must(t, durable.RenameNew(from, to))
	wantText(t, to, "new")
	wantNames(t, dir, "to")
}

func TestRenameSyncsTheNewDirectoryBeforeTheOldOne(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "partial", "blob"), filepath.Join(dir, "whole", "blob")
	must(t, durable.MkdirAll(filepath.Dir(from), 0o700))
	must(t, durable.MkdirAll(filepath.Dir(to), 0o700))
	put(t, from, "x")
	var synced []string
	durabletest.SyncDir(t, func(dir string, sync func(string) error) error {
		synced = append(synced, filepath.Base(dir))
		return sync(dir)
	})
	must(t, durable.Rename(from, to))
	if len(synced) != 2 || synced[0] != "whole" || synced[1] != "partial" {
		t.Errorf("synced %v", synced)
	}
}

func TestLinkReplacesAFileAndLeavesNoOtherName(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	put(t, from, "new")
	put(t, to, "old")
	must(t, durable.Link(from, to))
	must(t, durable.Link(from, to)) // Both names are of the same file now.
	wantText(t, from, "new")
	wantText(t, to, "new")
	wantNames(t, dir, "from", "to")
	durabletest.FailLinks(t, unix.ENOSPC)
	if err := durable.Link(from, to); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("got %v", err)
	}
}

func TestSymlinkReplacesAFileAndSetsTheOwner(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "link")
	put(t, path, "a file")
	owner := durable.Caller
	if os.Getuid() == 0 {
		owner = durable.Owner{UID: 12345, GID: 54321}
	}
	must(t, durable.Symlink("target", path, owner))
	if target, err := os.Readlink(path); err != nil || target != "target" {
		t.Errorf("%q %v", target, err)
	}
	info, err := os.Lstat(path)
	must(t, err)
	if owner != durable.Caller && durable.OwnerOf(info) != owner {
		t.Errorf("the owner is %v", durable.OwnerOf(info))
	}
	wantNames(t, dir, "link")
}
