package host

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// recordMove records beside a file that MoveAside removes it. The record is a symlink to the digest
// of the file: it needs neither a journal nor, on most file systems, disk space.
func recordMove(to, was string) error {
	return durable.Symlink(was, beside(to, movedSuffix), durable.Caller)
}

// forgetMove removes the record of MoveAside once there is a file again: if its owner removes it
// after that, it stays removed.
func forgetMove(to string) error {
	moved := beside(to, movedSuffix)
	if _, err := os.Lstat(moved); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return durable.Remove(moved)
}

// Interrupted reports whether MoveAside has removed a file, and nothing has restored or replaced
// it.
func Interrupted(to string) bool {
	_, moved := os.Lstat(beside(to, movedSuffix))
	_, err := os.Lstat(to)
	return moved == nil && errors.Is(err, os.ErrNotExist)
}

// RestoreMoved restores the file of an interrupted swap without a journal, and does nothing
// otherwise. It restores only the content that MoveAside removed, and only while the new file is
// still staged: the previous etcd must not start on the data of the new one.
func RestoreMoved(to string) error {
	if err := durable.CheckPath(to); err != nil {
		return err
	}
	if !Interrupted(to) {
		return durable.Explain(forgetMove(to), "restore", to)
	}
	if !isFile(beside(to, newSuffix)) {
		return nil
	}
	was, err := os.Readlink(beside(to, movedSuffix))
	if err != nil {
		return durable.Explain(err, "restore", to)
	}
	return UndoSwap(to, was, "")
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// DiscardStaged removes the staged file of a swap that will not happen.
func DiscardStaged(to string) error {
	staged := beside(to, newSuffix)
	err := os.Remove(staged)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = durable.SyncDir(filepath.Dir(to))
	}
	return durable.Explain(err, "remove the staged version of", to)
}
