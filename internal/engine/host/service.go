package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WrapperError is the error of a unit that starts another file than the binary itself. Replacing
// that file by the binary would destroy it.
type WrapperError struct {
	Name string // of the binary
	Path string // what the unit starts
	Why  string
}

func (e *WrapperError) Error() string {
	return fmt.Sprintf("the service of %s starts %s, which is %s", e.Name, e.Path, e.Why)
}

// Binary returns the binary of this name that the unit starts, with all symlinks resolved, or "" if
// the unit starts nothing.
func (u Unit) Binary(name string) (string, error) {
	started := u.Executable
	if started == "" && len(u.ExecStart) > 0 && filepath.IsAbs(u.ExecStart[0]) {
		started = u.ExecStart[0]
	}
	if started == "" {
		return "", nil
	}
	path, err := filepath.EvalSymlinks(started)
	if err != nil {
		return "", fmt.Errorf("cannot find the binary of %s: %w", name, err)
	}
	if filepath.Base(path) != name {
		return "", &WrapperError{Name: name, Path: started, Why: "not a file of that name but " + path}
	}
	ok, err := isELF(path)
	if err == nil && !ok {
		err = &WrapperError{Name: name, Path: started, Why: "not an executable in the ELF format"}
	}
	return path, err
}

func isELF(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("cannot read a binary: %w", err)
	}
	defer file.Close()
	magic := make([]byte, 4)
	_, err = io.ReadFull(file, magic)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return string(magic) == "\x7fELF", err
}
