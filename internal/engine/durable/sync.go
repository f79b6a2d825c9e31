package durable

import (
	"errors"
	"os"

	"github.com/refit-dev/refit/internal/engine/durable/internal/hook"
)

// Sync writes the content of an open file to the disk.
func Sync(file *os.File) error { return hook.SyncFile(file) }

// SyncFile writes the content of a file to the disk that another process or call has written.
func SyncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(Sync(file), file.Close())
}

// SyncDir writes the names in a directory to the disk.
func SyncDir(dir string) error { return hook.SyncDir(dir) }
