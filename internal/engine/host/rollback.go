package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// State compares a file with the records of the operation: Old if there is nothing to roll back;
// New if the operation wrote the content, or its write was interrupted; Other if the file was
// changed since.
func (s *Saved) State(path string) (SwapState, error) {
	state, _, err := s.state(path)
	if r := s.files[path]; err == nil && state == Old && r != nil && r.Target != "" {
		state, _, err = s.state(r.Target)
	}
	return state, err
}

func (s *Saved) state(path string) (SwapState, Entry, error) {
	now, err := inspect(path)
	if errors.Is(err, errSpecial) {
		return Other, now, nil
	}
	if err != nil {
		return "", now, err
	}
	return s.files[path].state(now), now, nil
}

func (r *record) state(now Entry) SwapState {
	switch {
	case r == nil, now.holds(r.Before):
		return Old
	case r.Found != nil && !now.holds(*r.Found):
		return New
	case r.After == nil, r.After.holds(r.Before): // The operation changed nothing, so it ignores a later change.
		return Old
	case now.holds(*r.After):
		return New
	default:
		return Other
	}
}

// Rollback restores the files that the operation wrote, and removes those that it created. A file
// that was changed since stays, and is returned. Every copy is checked before the first change;
// each file changes atomically.
func (s *Saved) Rollback(paths ...string) (kept []string, err error) {
	var restore []string
	for _, path := range s.resolved(paths) {
		state, _, err := s.state(path)
		switch {
		case err != nil:
			return nil, err
		case state == Other:
			kept = append(kept, path)
			continue
		case s.files[path] == nil:
			continue
		}
		if s.files[path].Before.Digest != "" {
			if _, err := s.Read(path); err != nil {
				return nil, err
			}
		}
		restore = append(restore, path)
	}
	for _, path := range restore {
		if err := s.restore(path); err != nil {
			return nil, durable.Explain(err, "restore", path)
		}
	}
	return kept, s.rolledBack(restore)
}

// resolved adds the targets of symlinks.
func (s *Saved) resolved(paths []string) []string {
	all := slices.Clone(paths)
	for _, path := range paths {
		if r := s.files[path]; r != nil && r.Target != "" && !slices.Contains(all, r.Target) {
			all = append(all, r.Target)
		}
	}
	return all
}

// rolledBack records that files are restored: any later change is not the operation's.
func (s *Saved) rolledBack(paths []string) error {
	for _, path := range paths {
		r := s.files[path]
		if r.After == nil && r.Found == nil {
			continue
		}
		before := r.Before
		r.After, r.Found = &before, nil
	}
	if len(paths) == 0 {
		return nil
	}
	return s.store()
}

func (s *Saved) restore(path string) error {
	state, now, err := s.state(path)
	if err != nil {
		return err
	}
	r := s.files[path]
	switch {
	case state != New:
		return syncName(path) // A killed agent may have restored it without a sync.
	case r.Before.Absent:
		return durable.Remove(path)
	case r.Before.Link != "":
		return restoreLink(r.Before)
	}
	text, err := s.Read(path)
	if err != nil {
		return err
	}
	if err := durable.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return durable.WriteFileWith(path, text, r.access(now).attributes())
}

// access has the attributes of a restored file: its own, unless they were changed since, as
// hardening guides require.
func (r *record) access(now Entry) Entry {
	if r.After == nil || r.Found != nil || now.Absent || now.Link != "" {
		return r.Before
	}
	if !now.accessibleAs(*r.After) {
		return now
	}
	return r.Before
}

// syncName makes a directory entry durable. A directory that does not exist has none.
func syncName(path string) error {
	if err := durable.SyncDir(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func restoreLink(entry Entry) error {
	if err := durable.MkdirAll(filepath.Dir(entry.Path), 0o755); err != nil {
		return err
	}
	return durable.Symlink(entry.Link, entry.Path, durable.Owner{UID: entry.UID, GID: entry.GID})
}
