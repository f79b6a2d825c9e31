package disk

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// Disk is a small ext4 whose power can be cut, mounted at Dir.
type Disk struct{ file, Dir string }

// New mounts a small ext4 for a test. It writes nothing back by itself: commits are ten minutes
// apart, and a rename does not flush earlier writes.
func New(t *testing.T) *Disk {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("must run as root to mount")
	}
	if _, err := exec.LookPath("mkfs.ext4"); err != nil {
		t.Skip("no mkfs.ext4")
	}
	d := &Disk{file: filepath.Join(t.TempDir(), "disk"), Dir: t.TempDir()}
	must(t, os.WriteFile(d.file, nil, 0o600))
	must(t, os.Truncate(d.file, 16<<20))
	run(t, "mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", "-m", "0", d.file)
	if out, err := d.mount(t); err != nil {
		t.Skipf("this machine cannot mount loop devices: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = unix.Unmount(d.Dir, unix.MNT_DETACH) })
	return d
}

func (d *Disk) mount(t *testing.T) ([]byte, error) {
	t.Helper()
	return exec.CommandContext(t.Context(), "mount", "-t", "ext4", "-o", "loop,commit=600,noauto_da_alloc", d.file, d.Dir).CombinedOutput()
}

// CutPower discards everything that is not on the disk; the file system fails from now on.
func (d *Disk) CutPower(t *testing.T) {
	t.Helper()
	must(t, machine.CutPower(d.Dir))
}

// Boot mounts the disk again.
func (d *Disk) Boot(t *testing.T) {
	t.Helper()
	must(t, unix.Unmount(d.Dir, 0))
	if out, err := d.mount(t); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// Flush writes everything to the disk.
func (d *Disk) Flush(t *testing.T) {
	t.Helper()
	fd, err := unix.Open(d.Dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(fd)
	must(t, unix.Syncfs(fd))
}

// ReadOnly remounts the disk read-only.
func (d *Disk) ReadOnly(t *testing.T) {
	t.Helper()
	run(t, "mount", "-o", "remount,ro", d.Dir)
}

// FillUp uses all disk space of the file system of a directory.
func FillUp(t *testing.T, dir string) {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, "filler"))
	must(t, err)
	defer file.Close()
	for size := 1 << 20; size > 0; {
		if _, err := file.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	for i := 0; ; i++ { // the remaining small blocks
		if err := os.WriteFile(filepath.Join(dir, "crumb"+strconv.Itoa(i)), []byte("x"), 0o600); err != nil {
			break
		}
	}
	must(t, file.Sync())
}

func run(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", argv, err, out)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
