package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	tmpSuffix = ".refit-tmp"
	newSuffix = ".refit-new"
	oldSuffix = ".refit-old"
)

// beside is a name of ours for a path. It begins with a dot, since the kubelet reads every other name in its manifests directory.
func beside(path, suffix string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+suffix)
}

// ours tells our own names from the host's.
func ours(name string) bool {
	return strings.HasPrefix(name, ".") &&
		(strings.HasSuffix(name, tmpSuffix) || strings.HasSuffix(name, newSuffix) || strings.HasSuffix(name, oldSuffix))
}

// owner is who a file belongs to; -1 is whoever makes it.
type owner struct{ uid, gid int }

var self = owner{-1, -1}

// syncFile and syncDir are the two ways to the disk. Tests take them away, to see that they matter.
var (
	syncFile = (*os.File).Sync
	syncDir  = func(dir string) error {
		d, err := os.Open(dir)
		if err != nil {
			return err
		}
		defer d.Close()
		return d.Sync()
	}
)

// WriteFile makes or replaces a file at once and durably. A symlink of that name is replaced, not followed.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	return writeFile(path, data, mode, self)
}

func writeFile(path string, data []byte, mode fs.FileMode, who owner) error {
	if err := absolute(path); err != nil {
		return err
	}
	temp := beside(path, tmpSuffix)
	err := fill(temp, mode, who, func(file *os.File) error {
		_, err := file.Write(data)
		return err
	})
	if err == nil {
		err = replace(temp, path)
	}
	return told(err, "writing", path)
}

// fill makes a new file, durable but for its name; nothing is left of it after an error.
func fill(path string, mode fs.FileMode, who owner, write func(*os.File) error) error {
	// Removed, not truncated: a link of that name must not lead anywhere.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Chown(who.uid, who.gid)
	}
	if err == nil {
		err = file.Chmod(mode) // After chown, which takes setuid bits away.
	}
	if err == nil {
		err = syncFile(file)
	}
	if e := file.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(path)
	}
	return err
}

// replace gives a file its name, durably.
func replace(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		_ = os.Remove(from)
		return err
	}
	return syncDir(filepath.Dir(to))
}

// MkdirAll makes a directory and those above it, durably. What is there stays as it is.
func MkdirAll(path string, mode fs.FileMode) error {
	if err := absolute(path); err != nil {
		return err
	}
	return told(mkdirAll(path, mode), "making the directory", path)
}

func mkdirAll(path string, mode fs.FileMode) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
	case err == nil:
		return &os.PathError{Op: "mkdir", Path: path, Err: unix.ENOTDIR}
	case errors.Is(err, os.ErrNotExist):
		if err := mkdirAll(filepath.Dir(path), mode); err != nil {
			return err
		}
		if err := os.Mkdir(path, mode); err != nil {
			return err
		}
		if err := os.Chmod(path, mode); err != nil { // The umask had its say.
			return err
		}
	default:
		return err
	}
	if path == "/" {
		return nil
	}
	// Also when it was there: whoever made it may have been killed before this.
	return syncDir(filepath.Dir(path))
}

// Remove removes a file or an empty directory durably. One that is not there is fine.
func Remove(path string) error {
	if err := absolute(path); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return told(err, "removing", path)
	}
	err := syncDir(filepath.Dir(path))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return told(err, "removing", path)
}
