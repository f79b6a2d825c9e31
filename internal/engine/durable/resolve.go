package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxSymlinks is the number of symlinks that Linux follows, too.
const maxSymlinks = 40

// Resolve follows the symlinks at a path to the file that a write through them changes. That file
// need not exist.
func Resolve(path string) (string, error) {
	for at, n := filepath.Clean(path), 0; n <= maxSymlinks; n++ {
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return at, nil
		}
		if err != nil {
			return "", err
		}
		target, err := os.Readlink(at)
		if err != nil {
			return "", err
		}
		if at, err = follow(at, target); err != nil {
			return "", err
		}
	}
	return "", &fs.PathError{Op: "resolve", Path: path, Err: syscall.ELOOP}
}

// follow returns the path of a link's target without .. and symlinks in its directory. A directory
// that does not exist is kept as it is.
func follow(link, target string) (string, error) {
	if !filepath.IsAbs(target) {
		dir, err := filepath.EvalSymlinks(filepath.Dir(link))
		if err != nil {
			return "", err
		}
		target = dir + "/" + target
	}
	dir, base := filepath.Split(target)
	if base == "" || base == "." || base == ".." {
		return filepath.Clean(target), nil // no file
	}
	switch resolved, err := filepath.EvalSymlinks(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return filepath.Clean(target), nil
	case err != nil:
		return "", err
	default:
		return filepath.Join(resolved, base), nil
	}
}
