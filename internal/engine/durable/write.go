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

// WriteFile creates or replaces a file of Refit's own state, atomically and durably. It replaces a
// symlink of that name instead of following it.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	return WriteFileWith(path, data, Attributes{Mode: mode, Owner: Caller})
}

// ReplaceFile is WriteFile for a file of the host: it has the attributes of the file that it
// replaces. The mode is that of a new file.
func ReplaceFile(path string, data []byte, mode fs.FileMode) error {
	attributes, err := AttributesFor(path, mode)
	if err != nil {
		return Explain(err, "write", path)
	}
	return WriteFileWith(path, data, attributes)
}

// WriteFileWith is WriteFile for a file that was saved with its attributes.
func WriteFileWith(path string, data []byte, attributes Attributes) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	return Explain(Write(path, attributes, func(file *os.File) error {
		_, err := file.Write(data)
		return err
	}), "write", path)
}

// Copy copies a small file with its attributes.
func Copy(from, to string) error {
	attributes, err := AttributesOf(from)
	if err != nil {
		return Explain(err, "read", from)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return Explain(err, "read", from)
	}
	return WriteFileWith(to, data, attributes)
}

// Write is WriteFileWith for content that write produces.
func Write(path string, attributes Attributes, write func(*os.File) error) error {
	if attributes.Xattrs == nil {
		replaced, _ := AttributesOf(path) // An unreadable file can still be replaced.
		attributes.Xattrs = replaced.Xattrs
	}
	temp := Temp(path)
	if err := Create(temp, attributes, write); err != nil {
		return err
	}
	if err := Rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return err
	}
	return nil
}

// Create creates a file whose content and attributes are durable; its name is durable only after
// SyncDir or Rename. After an error the file does not exist.
func Create(path string, attributes Attributes, write func(*os.File) error) error {
	// Removed, not truncated: a link of that name must not lead to another file.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|noFollow, 0o600)
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = attributes.set(file)
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		_ = os.Remove(path)
	}
	return err
}
