package durable_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
	"github.com/refit-dev/refit/test/disk"
)

func TestPowerCutAfterEachOperation(t *testing.T) {
	d := disk.New(t)
	path := filepath.Join(d.Dir, "etc", "file")
	other := filepath.Join(d.Dir, "etc", "other")
	cut := func() { d.CutPower(t); d.Boot(t) }
	must(t, durable.MkdirAll(filepath.Dir(path), 0o755))
	cut()
	must(t, durable.WriteFile(path, []byte("old"), 0o600))
	cut()
	wantText(t, path, "old")
	must(t, durable.WriteFile(path, []byte("new"), 0o600))
	cut()
	wantText(t, path, "new")
	must(t, durable.Link(path, other))
	cut()
	wantText(t, other, "new")
	must(t, durable.Remove(path))
	cut()
	wantText(t, path, "absent")
	must(t, durable.Rename(other, path))
	cut()
	wantText(t, other, "absent")
	must(t, durable.Symlink("file", other, durable.Caller))
	cut()
	if target, err := os.Readlink(other); err != nil || target != "file" {
		t.Errorf("%q %v", target, err)
	}
}

// The test above would detect a missing sync.
func TestPowerCutAfterAWriteWithoutSync(t *testing.T) {
	d := disk.New(t)
	path := filepath.Join(d.Dir, "file")
	must(t, durable.WriteFile(path, []byte("old"), 0o600))
	t.Run("of the directory restores the old file", func(t *testing.T) {
		durabletest.FailDirs(t, nil)
		must(t, durable.WriteFile(path, []byte("new"), 0o600))
		d.CutPower(t)
		d.Boot(t)
		wantText(t, path, "old")
	})
	t.Run("of the file leaves an empty file", func(t *testing.T) {
		durabletest.FailFiles(t, nil)
		must(t, durable.WriteFile(path, []byte("new"), 0o600))
		d.CutPower(t)
		d.Boot(t)
		wantText(t, path, "")
	})
}
