package durable

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/engine/durable/internal/hook"
)

// Rename renames a file within its file system, atomically and durably. It replaces the file that
// has the new name. It does not sync the content.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncNames(from, to)
}

// RenameNew is Rename, but fails with os.ErrExist if the new name exists.
func RenameNew(from, to string) error {
	if err := renameNew(from, to); err != nil {
		return err
	}
	return syncNames(from, to)
}

// renameUnlessTaken can lose a race against another writer of that name: Refit has one per host.
func renameUnlessTaken(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: os.ErrExist}
	}
	return os.Rename(from, to)
}

// syncNames syncs the new name before the old one's removal, so that a file never has neither.
func syncNames(from, to string) error {
	if err := SyncDir(filepath.Dir(to)); err != nil || filepath.Dir(from) == filepath.Dir(to) {
		return err
	}
	return SyncDir(filepath.Dir(from))
}

// Link gives a file a second name, atomically and durably. It replaces the file that has that name.
func Link(from, to string) error {
	temp := Temp(to)
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := hook.Link(from, temp); err != nil {
		return err
	}
	if err := os.Rename(temp, to); err != nil {
		_ = os.Remove(temp)
		return err
	}
	// Rename removes neither of two names of the same file.
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// Symlink creates or replaces a symlink, atomically and durably.
func Symlink(target, path string, owner Owner) error {
	temp := Temp(path)
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Symlink(target, temp); err != nil {
		return err
	}
	err := chownLink(temp, owner)
	if err == nil {
		err = Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

func chownLink(path string, owner Owner) error {
	if owner == Caller {
		return nil
	}
	return os.Lchown(path, owner.UID, owner.GID)
}
