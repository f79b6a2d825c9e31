package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// Track runs a change that may write files, and records the result in dir: a rollback restores only
// files that the operation wrote. The record is opened before the change and closed after it, even
// if the change fails. A kill in between leaves it open; running the change again continues the
// record.
func Track(dir string, paths []string, change func() error) error {
	s, err := openSaved(dir)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := s.begin(path); err != nil {
			return err
		}
	}
	paths, err = s.withTargets(paths)
	if err != nil {
		return err
	}
	if err := s.store(); err != nil {
		return err
	}
	failed := change()
	if err := s.end(paths); err != nil {
		return errors.Join(failed, err)
	}
	return failed
}

// begin opens the record of one file. While the file has nothing of the operation, before the first
// write and after a rollback, others may change it, so it is saved again.
func (s *Saved) begin(path string) error {
	r := s.files[path]
	switch {
	case r != nil && r.Found != nil:
		return nil // An interrupted write is continued.
	case r == nil, r.After == nil, r.After.holds(r.Before):
		if err := s.save(path); err != nil {
			return err
		}
		found := s.files[path].Before
		s.files[path].Found = &found
		return nil
	}
	now, err := inspect(path)
	r.Found = &now
	return err
}

// withTargets opens the records of the files that symlinks lead to, and adds them to the list.
func (s *Saved) withTargets(paths []string) ([]string, error) {
	for _, path := range paths {
		r := s.files[path]
		if r.Target == "" && r.Found.Link != "" {
			target, err := writtenBy(path)
			if err != nil {
				return nil, durable.Explain(err, "resolve", path)
			}
			r.Target = target
		}
		if r.Target == "" || slices.Contains(paths, r.Target) {
			continue
		}
		if err := s.begin(r.Target); err != nil {
			return nil, err
		}
		paths = append(slices.Clip(paths), r.Target)
	}
	return paths, nil
}

// maxLinks is the limit of the kernel for the symlinks of a path.
const maxLinks = 40

// writtenBy returns the file that a write to a symlink writes. The write creates the target of a
// dangling one.
func writtenBy(path string) (string, error) {
	for range maxLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil // A write fails.
		}
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
		to, err := os.Readlink(path)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.EINVAL): // EINVAL: it is no symlink
			return path, nil
		case err != nil:
			return "", err
		case filepath.IsAbs(to):
			path = to
		default:
			path = filepath.Join(dir, to)
		}
	}
	return "", unix.ELOOP
}

// end closes the records. A file that the change did not modify was not written by the operation.
func (s *Saved) end(paths []string) error {
	for _, path := range paths {
		now, err := inspect(path)
		if err != nil {
			return err
		}
		r := s.files[path]
		if now, err = keepAttributes(*r.Found, now); err != nil {
			return err
		}
		if !now.same(*r.Found) {
			r.After = &now
		}
		r.Found = nil
	}
	return s.store()
}
