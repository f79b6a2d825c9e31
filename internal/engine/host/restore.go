package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// Restore puts paths back as they were when they were saved: content, mode, owner. What was not there is removed, also within a directory. Every copy is
// checked before anything is touched. Each file changes at once; what is right already is left alone.
func (s *Saved) Restore(paths ...string) error {
	var entries []Entry
	for _, path := range paths {
		found, err := s.below(path)
		if err != nil {
			return err
		}
		entries = append(entries, found...)
	}
	for _, entry := range entries {
		if entry.Digest == "" {
			continue
		}
		if _, err := s.Read(entry.Path); err != nil {
			return err
		}
	}
	for _, entry := range entries {
		if err := s.restore(entry); err != nil {
			return told(err, "putting back", entry.Path)
		}
	}
	return nil
}

func (s *Saved) restore(entry Entry) error {
	now, err := look(entry.Path)
	if err != nil && !errors.Is(err, errSpecial) {
		return err
	}
	special := err != nil
	if !special && now == entry {
		if err := s.settleName(entry); err != nil || !entry.Dir {
			return err
		}
		return s.removeOthers(entry.Path)
	}
	// A rename replaces a file or a symlink at once, but never a directory.
	if !entry.Dir && now.Dir || entry.Dir && (special || !now.Dir && !now.Absent) || entry.Absent {
		if err := os.RemoveAll(entry.Path); err != nil {
			return err
		}
	}
	switch {
	case entry.Absent:
		return s.settleName(entry)
	case entry.Link != "":
		return s.restoreLink(entry)
	case entry.Dir:
		return s.restoreDir(entry)
	default:
		text, err := s.Read(entry.Path)
		if err != nil {
			return err
		}
		if err := mkdirAll(filepath.Dir(entry.Path), 0o755); err != nil {
			return err
		}
		return writeFile(entry.Path, text, entry.Mode, owner{entry.UID, entry.GID})
	}
}

// settleName brings what is right already to the disk: whoever made it so may have been killed before.
func (s *Saved) settleName(entry Entry) error {
	err := syncDir(filepath.Dir(entry.Path))
	if entry.Absent && errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Saved) restoreLink(entry Entry) error {
	if err := mkdirAll(filepath.Dir(entry.Path), 0o755); err != nil {
		return err
	}
	temp := beside(entry.Path, tmpSuffix)
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Symlink(entry.Link, temp); err != nil {
		return err
	}
	if err := os.Lchown(temp, entry.UID, entry.GID); err != nil {
		return err
	}
	return replace(temp, entry.Path)
}

func (s *Saved) restoreDir(entry Entry) error {
	if err := mkdirAll(entry.Path, entry.Mode); err != nil {
		return err
	}
	if err := os.Chown(entry.Path, entry.UID, entry.GID); err != nil {
		return err
	}
	if err := os.Chmod(entry.Path, entry.Mode); err != nil {
		return err
	}
	if err := s.removeOthers(entry.Path); err != nil {
		return err
	}
	return s.settleName(entry)
}

// removeOthers removes from a directory what was not in it. What a swap keeps there stays until that is settled; sockets and the like are nobody's.
func (s *Saved) removeOthers(dir string) error {
	others, err := s.others(dir)
	if err != nil || len(others) == 0 {
		return err
	}
	for _, path := range others {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

func (s *Saved) others(dir string) ([]string, error) {
	names, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var others []string
	for _, found := range names {
		path := filepath.Join(dir, found.Name())
		known := found.IsDir() || found.Type().IsRegular() || found.Type()&os.ModeSymlink != 0
		if _, saved := s.entries[path]; !saved && known && !ours(found.Name()) {
			others = append(others, path)
		}
	}
	return others, nil
}

// Changed lists what is not as it was saved, sorted; of a directory that was not there, only itself.
func (s *Saved) Changed(paths ...string) ([]string, error) {
	var changed []string
	for _, path := range paths {
		entries, err := s.below(path)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			now, err := look(entry.Path)
			if err != nil && !errors.Is(err, errSpecial) {
				return nil, err
			}
			if err != nil || now != entry {
				changed = append(changed, entry.Path)
			}
			if entry.Dir && now.Dir {
				others, err := s.others(entry.Path)
				if err != nil {
					return nil, told(err, "looking at", entry.Path)
				}
				changed = append(changed, others...)
			}
		}
	}
	slices.Sort(changed)
	return slices.Compact(changed), nil
}
