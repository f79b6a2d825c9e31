package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

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
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		entry.UID, entry.GID = int(stat.Uid), int(stat.Gid)
	}
	switch {
	case info.Mode().IsRegular():
		entry.Digest, err = digest(path, unix.O_NOFOLLOW)
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
