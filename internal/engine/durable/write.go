package durable

import (
	"errors"
	"io/fs"
	"os"
)

// Owner is the user and the group of a file.
type Owner struct {
	UID int `json:"uid"`
	GID int `json:"gid"`
}

// Caller is the user and the group of this process.
var Caller = Owner{UID: -1, GID: -1}

// WriteFile creates or replaces a file, atomically and durably. It replaces a symlink of that name
// instead of following it.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	return WriteFileAs(path, data, mode, Caller)
}

// WriteFileAs is WriteFile for a file that belongs to owner.
func WriteFileAs(path string, data []byte, mode fs.FileMode, owner Owner) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	return Explain(Write(path, mode, owner, func(file *os.File) error {
		_, err := file.Write(data)
		return err
	}), "write", path)
}

// Write is WriteFileAs for content that write produces.
func Write(path string, mode fs.FileMode, owner Owner, write func(*os.File) error) error {
	temp := Temp(path)
	if err := Create(temp, mode, owner, write); err != nil {
		return err
	}
	if err := Rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return err
	}
	return nil
}

// Create creates a file whose content, owner and mode are durable; its name is durable only after
// SyncDir or Rename. After an error the file does not exist.
func Create(path string, mode fs.FileMode, owner Owner, write func(*os.File) error) error {
	// Removed, not truncated: a link of that name must not lead to another file.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|noFollow, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(fill(file, mode, owner, write), file.Close())
	if err != nil {
		_ = os.Remove(path)
	}
	return err
}

func fill(file *os.File, mode fs.FileMode, owner Owner, write func(*os.File) error) error {
	if err := write(file); err != nil {
		return err
	}
	if owner != Caller {
		if err := file.Chown(owner.UID, owner.GID); err != nil {
			return err
		}
	}
	if err := file.Chmod(mode); err != nil { // After chown, which clears the setuid bits.
		return err
	}
	return Sync(file)
}
