package durable

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestResolveFindsWhatAWriteChanges(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	err = errors.Join(os.Mkdir(at("real"), 0o700), os.Symlink("real", at("dir")), os.WriteFile(at("file"), nil, 0o600), os.Symlink("../file", at("real/up")),
		os.Symlink(at("real/up"), at("absolute")), os.Symlink("none", at("dangling")), os.Symlink("loop", at("loop")),
		os.Symlink(dir+"//real/../file", at("unclean")), os.Symlink("dir/../none/../file", at("nowhere")))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"file": "file", "none": "none", "dangling": "none", "absolute": "file", "dir/up": "file", "unclean": "file", "nowhere": "file",
	} {
		if got, err := Resolve(at(path)); err != nil || got != at(want) {
			t.Errorf("%s leads to %s, %v", path, got, err)
		}
	}
	if got, err := Resolve(at("loop")); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a loop leads to %s, %v", got, err)
	}
}
