package host

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// Interrupted reports whether MoveAside has removed a file and nothing has followed. It needs no
// digests: the previous file is kept, and the staged one, which Swap would have renamed, is still
// there.
func Interrupted(to string) bool {
	_, err := os.Lstat(to)
	return errors.Is(err, os.ErrNotExist) && isFile(beside(to, oldSuffix)) && isFile(beside(to, newSuffix))
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// RestoreMoved restores the file of an interrupted swap, and does nothing otherwise.
func RestoreMoved(to string) error {
	if err := durable.CheckPath(to); err != nil {
		return err
	}
	if !Interrupted(to) {
		return nil
	}
	return restorePrevious(to)
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
