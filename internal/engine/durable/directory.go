package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// MkdirAll creates a directory and its parents, durably. It does not change those that exist.
func MkdirAll(path string, mode fs.FileMode) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	return Explain(mkdirAll(path, mode), "create the directory", path)
}

func mkdirAll(path string, mode fs.FileMode) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
	case err == nil:
		return &os.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
	case errors.Is(err, os.ErrNotExist):
		if err := mkdirAll(filepath.Dir(path), mode); err != nil {
			return err
		}
		if err := os.Mkdir(path, mode); err != nil {
			return err
		}
		if err := os.Chmod(path, mode); err != nil { // The umask may have cleared bits.
			return err
		}
	default:
		return err
	}
	if path == filepath.Dir(path) {
		return nil
	}
	// Also when it exists: the process that created it may have been killed before its sync.
	return SyncDir(filepath.Dir(path))
}

// Remove removes a file or an empty directory, durably. It returns nil if there is none.
func Remove(path string) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return Explain(err, "remove", path)
	}
	err := SyncDir(filepath.Dir(path))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return Explain(err, "remove", path)
}
