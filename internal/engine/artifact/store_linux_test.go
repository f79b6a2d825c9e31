package artifact

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestFullDiskFailsWithoutTryingOtherSources(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "small")
	write(t, filepath.Join(dir, "x"), "", 0o600)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128k"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	s := newStore(t)
	small, err := OpenStore(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	small.retry = s.retry
	content := someFile()
	first, _ := serve(t, good(content))
	second, requests := serve(t, good(content))
	err = small.Fetch(t.Context(), blobOf(content, "x"), []Source{first, second})
	if reasonOf(err) != "DiskFull" || requests.Load() != 0 {
		t.Errorf("%v (%s); the second source got %d requests", err, reasonOf(err), requests.Load())
	}
}
