package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// nspawnRun is the runtime directory of systemd-nspawn.
const nspawnRun = "/run/systemd/nspawn"

// ForgetContainers removes the propagation directories that systemd-nspawn leaves if it is killed
// with its containers. The name may be a pattern.
func ForgetContainers(name string) error {
	var errs []error
	for _, kind := range []string{"propagate", "unix-export"} {
		dirs, err := filepath.Glob(filepath.Join(nspawnRun, kind, name))
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			errs = append(errs, os.RemoveAll(dir))
		}
	}
	return errors.Join(errs...)
}

// ForgetRoot removes the lock that systemd-nspawn keeps on the root directory of a container. It is
// named after the inode of the directory, which must still be mounted.
func ForgetRoot(root string) error {
	var stat unix.Stat_t
	if err := unix.Stat(root, &stat); err != nil {
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		return fmt.Errorf("reading %s: %w", root, err)
	}
	err := os.Remove(filepath.Join(nspawnRun, "locks", fmt.Sprintf("inode-%d:%d", stat.Dev, stat.Ino)))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
