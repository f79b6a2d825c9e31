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
	for at, n := path, 0; n <= maxSymlinks; n++ {
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
		if !filepath.IsAbs(target) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(at))
			if err != nil {
				return "", err
			}
			target = filepath.Join(dir, target)
		}
		at = target
	}
	return "", &fs.PathError{Op: "resolve", Path: path, Err: syscall.ELOOP}
}
