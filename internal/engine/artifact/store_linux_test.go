package artifact

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A disk that is full is the host's trouble: no other source is asked, and a person is told.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "small")
	write(t, filepath.Join(dir, "x"), "", 0o600)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128k"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	s := newStore(t)
	small, err := OpenStore(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	small.patience = s.patience
	content := someFile()
	first, _ := serve(t, good(content))
	second, asked := serve(t, good(content))
	err = small.Fetch(t.Context(), blobOf(content, "x"), []Source{first, second})
	if reasonOf(err) != "DiskFull" || asked.Load() != 0 {
		t.Errorf("%v (%s); the second source was asked %d times", err, reasonOf(err), asked.Load())
	}
}
