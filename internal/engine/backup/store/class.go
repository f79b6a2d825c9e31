package store

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// classOf returns the class of an error of a file system, or nil.
func classOf(err error) error {
	for _, class := range []error{backup.ErrUnreachable, backup.ErrCorrupt} {
		if errors.Is(err, class) {
			return nil // it has one
		}
	}
	for _, row := range []struct {
		class error
		codes []error
	}{
		{backup.ErrNotFound, []error{fs.ErrNotExist}},
		{backup.ErrFull, []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}},
		{backup.ErrDenied, []error{fs.ErrPermission, syscall.EROFS}},
		{backup.ErrUnreachable, []error{syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT, syscall.EHOSTDOWN, syscall.ENODEV, syscall.ENXIO}},
	} {
		for _, code := range row.codes {
			if errors.Is(err, code) {
				return row.class
			}
		}
	}
	return nil
}
