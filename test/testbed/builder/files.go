package builder

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile writes a text and the directories it lies in.
func writeFile(path, text string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// linkFile makes another name for a file, and the directories it lies in.
func linkFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("linking %s: %w", to, err)
	}
	if err := os.Link(from, to); err != nil {
		return fmt.Errorf("linking %s: %w", to, err)
	}
	return nil
}

// copyPrograms copies every program of a bin directory. Copies, not links: what
// is in a node's root gets overwritten, and must not reach the cache.
func copyPrograms(from, to string, names ...string) error {
	if len(names) == 0 {
		entries, err := os.ReadDir(from)
		if err != nil {
			return fmt.Errorf("copying programs: %w", err)
		}
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return fmt.Errorf("copying programs: %w", err)
		}
		if err := writeFile(filepath.Join(to, name), string(content), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// treeSize is how many bytes the files of a directory hold.
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
