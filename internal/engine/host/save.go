package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Save copies files, symlinks and whole directories into dir, and notes what was not there. What was saved once is not saved again: after a change the
// host no longer has what is to be kept.
func Save(dir string, paths []string) error {
	if err := absolute(dir); err != nil {
		return err
	}
	for _, path := range paths {
		if err := absolute(path); err != nil {
			return err
		}
	}
	done, err := LoadSaved(dir)
	if err == nil {
		return done.covers(paths)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := MkdirAll(dir, 0o700); err != nil { // Keys are among the copies.
		return err
	}
	s := &Saved{dir: dir, entries: map[string]Entry{}}
	for _, path := range paths {
		if err := s.walk(path); err != nil {
			return err
		}
	}
	// The copies must be on the disk before an index says so.
	if err := syncDir(dir); err != nil {
		return told(err, "saving into", dir)
	}
	return s.finish(paths)
}

func (s *Saved) covers(paths []string) error {
	for _, path := range paths {
		if _, ok := s.entries[path]; !ok {
			return fmt.Errorf("saving into %s: what was saved there before does not hold %s", s.dir, path)
		}
	}
	return nil
}

func (s *Saved) walk(root string) error {
	err := filepath.WalkDir(root, func(path string, found fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) && path != root {
			return nil // Gone since its directory was listed.
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			return told(err, "saving", path)
		}
		if path != root && ours(found.Name()) {
			if found.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		return s.copy(path)
	})
	return err
}

// copy saves one path. The digest is of what was copied, even if the file has changed since it was looked at.
func (s *Saved) copy(path string) error {
	if _, ok := s.entries[path]; ok {
		return nil // Asked for twice, or part of a directory that was asked for as well.
	}
	entry, err := look(path)
	if errors.Is(err, errSpecial) {
		return nil
	}
	if err != nil {
		return err
	}
	if entry.Digest != "" {
		text, err := readSmall(path)
		if err != nil {
			return told(err, "saving", path)
		}
		entry.Digest = digestOfBytes(text)
		if err := s.keep(entry.Digest, text); err != nil {
			return told(err, "saving", path)
		}
	}
	s.entries[path] = entry
	s.order = append(s.order, path)
	return nil
}

// keep stores content under its digest, unless a run that was cut off has done so.
func (s *Saved) keep(digest string, text []byte) error {
	blob := s.blob(digest)
	if have, err := Digest(blob); err == nil && have == digest {
		return nil
	}
	temp := beside(blob, tmpSuffix)
	err := fill(temp, 0o600, self, func(file *os.File) error {
		_, err := file.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return os.Rename(temp, blob)
}

func readSmall(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSaved+1))
	if err == nil && len(text) > maxSaved {
		return nil, node.ManualIntervention("TooLargeToSave", nil, "move "+path+" to another directory, then say refit retry",
			"%s has more than %d MiB, which is no configuration", path, maxSaved>>20)
	}
	return text, err
}

func (s *Saved) finish(paths []string) error {
	done := index{Format: indexFormat, Paths: slices.Clone(paths)}
	for _, path := range s.order {
		done.Entries = append(done.Entries, s.entries[path])
	}
	sum, err := done.sum()
	if err != nil {
		return err
	}
	done.Digest = sum
	text, err := json.Marshal(done)
	if err != nil {
		return fmt.Errorf("writing the index of what was saved: %w", err)
	}
	return WriteFile(filepath.Join(s.dir, indexName), append(text, '\n'), 0o600)
}
