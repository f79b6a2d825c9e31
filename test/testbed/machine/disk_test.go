package machine

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestPowerCutLosesUnsyncedDataOnly(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	disk, root := filepath.Join(dir, "disk.ext4"), filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	must(t, CreateDisk(t.Context(), disk, 64<<20))
	must(t, MountDisk(t.Context(), disk, root))
	t.Cleanup(func() { _ = UnmountBelow(root) })
	text := bytes.Repeat([]byte("refit "), 1000)
	writeFile(t, filepath.Join(root, "synced"), text, true)
	writeFile(t, filepath.Join(root, "unsynced"), text, false)

	must(t, CutPower(root))
	if err := os.WriteFile(filepath.Join(root, "after"), text, 0o600); err == nil {
		t.Error("a file could be written after the power was cut")
	}
	must(t, UnmountBelow(root))
	must(t, WaitDiskFree(t.Context(), disk))
	must(t, MountDisk(t.Context(), disk, root))

	if got, err := os.ReadFile(filepath.Join(root, "synced")); err != nil || !bytes.Equal(got, text) {
		t.Errorf("the synced file has %d bytes (%v), want %d", len(got), err, len(text))
	}
	if got, err := os.ReadFile(filepath.Join(root, "unsynced")); err == nil && len(got) > 0 {
		t.Errorf("the file that was never synced survived with %d bytes", len(got))
	}
}

func TestRestoredDiskIsAsSaved(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	disk, saved, root := filepath.Join(dir, "disk.ext4"), filepath.Join(dir, "saved.ext4"), filepath.Join(dir, "root")
	must(t, os.Mkdir(root, 0o755))
	must(t, CreateDisk(t.Context(), disk, 64<<20))
	write := func(name string) {
		must(t, MountDisk(t.Context(), disk, root))
		t.Cleanup(func() { _ = UnmountBelow(root) })
		must(t, os.WriteFile(filepath.Join(root, name), []byte(name), 0o600))
		must(t, UnmountBelow(root))
		must(t, WaitDiskFree(t.Context(), disk))
	}
	write("before")
	must(t, CopyDisk(t.Context(), disk, saved))
	write("later")
	must(t, CopyDisk(t.Context(), saved, disk))
	must(t, MountDisk(t.Context(), disk, root))
	if _, err := os.Stat(filepath.Join(root, "before")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, "later")); err == nil {
		t.Error("a file written after the save still exists")
	}
}

func writeFile(t *testing.T, path string, text []byte, sync bool) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	_, err = f.Write(text)
	must(t, err)
	if !sync {
		return
	}
	must(t, f.Sync())
	dir, err := os.Open(filepath.Dir(path))
	must(t, err)
	defer dir.Close()
	must(t, dir.Sync())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// needRoot skips the test without root; CI runs as root.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("must run as root")
	}
}
