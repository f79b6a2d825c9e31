package builder

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile writes a file and creates its directory.
func writeFile(path, text string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// linkFile creates a hard link and its directory.
func linkFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("linking %s: %w", to, err)
	}
	if err := os.Link(from, to); err != nil {
		return fmt.Errorf("linking %s: %w", to, err)
	}
	return nil
}

// copyBinaries copies every binary of a bin directory. It does not link: files in the root of a
// node are overwritten, which must not reach the cache.
func copyBinaries(from, to string, names ...string) error {
	if len(names) == 0 {
		entries, err := os.ReadDir(from)
		if err != nil {
			return fmt.Errorf("copying binaries: %w", err)
		}
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return fmt.Errorf("copying binaries: %w", err)
		}
		if err := writeFile(filepath.Join(to, name), string(content), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// treeSize returns the size of the files of a directory in bytes.
func treeSize(dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("measuring %s: %w", dir, err)
	}
	return size, nil
}
