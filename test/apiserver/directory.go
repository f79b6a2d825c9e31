package apiserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const dirPrefix = "refit-apiserver-"

// unlockedFor is longer than it takes to lock a new directory.
const unlockedFor = time.Minute

// A directory holds the files of a server. It is locked while its process lives, which
// distinguishes it from the leftovers of killed tests.
type directory struct {
	path string
	lock *os.File
}

// newDirectory creates a directory, and removes those that killed tests left: the data of a server
// with many objects is large.
func newDirectory() (directory, error) {
	if err := removeLeftovers(os.TempDir()); err != nil {
		return directory{}, err
	}
	path, err := os.MkdirTemp("", dirPrefix)
	if err != nil {
		return directory{}, fmt.Errorf("making the server's directory: %w", err)
	}
	lock, err := lockDirectory(path)
	if err != nil {
		return directory{}, errors.Join(fmt.Errorf("locking the server's directory: %w", err), os.RemoveAll(path))
	}
	return directory{path: path, lock: lock}, nil
}

func (d directory) file(name string) string { return filepath.Join(d.path, name) }

func (d directory) remove() error { return errors.Join(os.RemoveAll(d.path), d.lock.Close()) }

// removeLeftovers removes directories of servers whose process has died. Other processes may do the
// same concurrently, or own directories that this one has no permission to remove: those stay.
func removeLeftovers(parent string) error {
	found, err := filepath.Glob(filepath.Join(parent, dirPrefix+"*"))
	if err != nil {
		return fmt.Errorf("looking for leftovers: %w", err)
	}
	for _, path := range found {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < unlockedFor {
			continue
		}
		if lock, err := lockDirectory(path); err == nil {
			_ = os.RemoveAll(path)
			lock.Close()
		}
	}
	return nil
}

// lockDirectory fails when another process has the lock. The kernel releases it when this process
// dies; child processes do not inherit it.
func lockDirectory(path string) (*os.File, error) {
	lock, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}
