//go:build unix

package server

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lock locks a directory for this process, until it ends or calls unlock. Two servers would break
// the chain of the audit log.
func lock(directory string) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(directory, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}
