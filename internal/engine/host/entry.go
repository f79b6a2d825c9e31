package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// Entry is the recorded state of a path: absent, a symlink, a directory, or a file.
type Entry struct {
	Path   string      `json:"path"`
	Absent bool        `json:"absent,omitempty"`
	Link   string      `json:"link,omitempty"` // target of a symlink
	Dir    bool        `json:"dir,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`
	UID    int         `json:"uid"`
	GID    int         `json:"gid"`
	Digest string      `json:"digest,omitempty"` // of a file's content
	// Xattrs are the extended attributes of a file. They are empty if there were none, and nil if
	// they are unknown: an index of format 2 has none.
	Xattrs durable.Xattrs `json:"xattrs,omitzero"`
}

// attributes returns the attributes of a file.
func (e Entry) attributes() durable.Attributes {
	return durable.Attributes{Mode: e.Mode, Owner: durable.Owner{UID: e.UID, GID: e.GID}, Xattrs: e.Xattrs}
}

// same reports whether two entries have the same content and attributes.
func (e Entry) same(other Entry) bool { return e.holds(other) && e.accessibleAs(other) }

// accessibleAs reports whether two entries have the same attributes, as far as they are known.
func (e Entry) accessibleAs(other Entry) bool {
	known := e.Xattrs != nil && other.Xattrs != nil
	return e.Mode == other.Mode && e.UID == other.UID && e.GID == other.GID && (!known || e.Xattrs.Equal(other.Xattrs))
}

// holds reports whether two entries have the same content, regardless of their mode and owner.
func (e Entry) holds(other Entry) bool {
	return e.Absent == other.Absent && e.Link == other.Link && e.Dir == other.Dir && e.Digest == other.Digest
}

// errSpecial is returned for a socket, a pipe or a device.
var errSpecial = errors.New("neither file, directory nor symlink")

// inspect returns the current state of a path. It does not follow symlinks.
func inspect(path string) (Entry, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return Entry{Path: path, Absent: true}, nil
	}
	if err != nil {
		return Entry{}, durable.Explain(err, "read", path)
	}
	entry := Entry{Path: path, Mode: info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)}
	owner := durable.OwnerOf(info)
	entry.UID, entry.GID = owner.UID, owner.GID
	switch {
	case info.Mode().IsRegular():
		err = entry.readFile()
	case info.IsDir():
		entry.Dir = true
	case info.Mode()&fs.ModeSymlink != 0:
		entry.Mode = 0
		entry.Link, err = os.Readlink(path)
	default:
		return Entry{}, fmt.Errorf("%s: %w", path, errSpecial)
	}
	if err != nil {
		return Entry{}, durable.Explain(err, "read", path)
	}
	return entry, nil
}

func (e *Entry) readFile() error {
	found, err := durable.AttributesOf(e.Path)
	if err != nil {
		return err
	}
	e.Xattrs = found.Xattrs
	e.Digest, err = digest(e.Path, unix.O_NOFOLLOW)
	return err
}
