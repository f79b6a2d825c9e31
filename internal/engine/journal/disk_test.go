package journal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// disk is a small ext4 whose power can be cut.
type disk struct{ file, dir string }

// newDisk mounts a small ext4. It writes back nothing by itself: commits are ten minutes apart, and a rename does not flush what was written before.
func newDisk(t *testing.T) *disk {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount")
	}
	if _, err := exec.LookPath("mkfs.ext4"); err != nil {
		t.Skip("no mkfs.ext4")
	}
	d := &disk{file: filepath.Join(t.TempDir(), "disk"), dir: t.TempDir()}
	if err := os.WriteFile(d.file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.file, 16<<20); err != nil {
		t.Fatal(err)
	}
	run(t, "mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", "-m", "0", d.file)
	if out, err := d.mount(); err != nil {
		t.Skipf("this machine mounts no loop devices: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = unix.Unmount(d.dir, unix.MNT_DETACH) })
	return d
}

func (d *disk) mount() ([]byte, error) {
	return exec.Command("mount", "-t", "ext4", "-o", "loop,commit=600,noauto_da_alloc", d.file, d.dir).CombinedOutput()
}

// cutPower loses everything that is not on the disk; the file system fails from now on.
func (d *disk) cutPower(t *testing.T) {
	t.Helper()
	const shutdown, noLogFlush = 0x8004587d, 2
	fd, err := unix.Open(d.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.IoctlSetPointerInt(fd, shutdown, noLogFlush); err != nil {
		t.Fatal(err)
	}
}

// boot mounts the disk again.
func (d *disk) boot(t *testing.T) {
	t.Helper()
	if err := unix.Unmount(d.dir, 0); err != nil {
		t.Fatal(err)
	}
	if out, err := d.mount(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// fillUp leaves no room at all.
func fillUp(t *testing.T, dir string) {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for size := 1 << 20; size > 0; {
		if _, err := file.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	for i := 0; ; i++ { // What the file could not take.
		if err := os.WriteFile(filepath.Join(dir, "crumb"+strconv.Itoa(i)), []byte("x"), 0o600); err != nil {
			break
		}
	}
	if err := file.Sync(); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", argv, err, out)
	}
}
