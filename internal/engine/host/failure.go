package host

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// told says what a failed call on the disk means for a person.
func told(err error, doing, path string) error {
	var known *node.Failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return node.DiskFull(err, doing, path)
	case errors.Is(err, unix.EROFS), errors.Is(err, unix.EIO), errors.Is(err, unix.EUCLEAN):
		return node.DiskBroken(err, doing, path)
	default:
		return fmt.Errorf("%s %s: %w", doing, path, err)
	}
}

// absolute refuses paths that would mean something else from another working directory, or through "..".
func absolute(path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fmt.Errorf("%q is not a clean absolute path", path)
	}
	return nil
}
