package builder

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// CopyContainerd fills dst, a node's /var/lib/containerd that does not exist yet,
// with the images' store. Content and unpacked layers are hard links: they are
// never written again, so nodes share them. The databases are copied: they are
// written in place, and a link would let one node write into all others.
// dst must be on the file system of the cache.
func (n NodeImage) CopyContainerd(dst string) error {
	return filepath.WalkDir(n.Containerd, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("copying the images: %w", err)
		}
		rel, err := filepath.Rel(n.Containerd, path)
		if err != nil {
			return fmt.Errorf("copying the images: %w", err)
		}
		if err := copyOne(path, filepath.Join(dst, rel), entry); err != nil {
			return fmt.Errorf("copying the images: %w", err)
		}
		return nil
	})
}

func copyOne(from, to string, entry fs.DirEntry) error {
	switch {
	case entry.IsDir():
		return copyDir(to, entry)
	case filepath.Ext(from) == ".db":
		content, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		return os.WriteFile(to, content, 0o600)
	default:
		return os.Link(from, to)
	}
}

// copyDir makes a directory with the mode and owner of the one that is copied: the layers' own
// directories are what containers see.
func copyDir(to string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := os.Lchown(to, int(stat.Uid), int(stat.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(to, info.Mode()) // after Mkdir and Lchown: both may take bits away
}
