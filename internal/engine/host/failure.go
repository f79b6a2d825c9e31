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
		return node.NeedsPerson("DiskFull", err, "make room on the file system of "+filepath.Dir(path)+", then say refit retry",
			"no room for %s %s", doing, path)
	case errors.Is(err, unix.EROFS), errors.Is(err, unix.EIO), errors.Is(err, unix.EUCLEAN):
		return node.HostBroken("DiskBroken", err, "check the disk and the file system of "+filepath.Dir(path)+" (dmesg, fsck)",
			"the disk failed while %s %s", doing, path)
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
