package steps

import (
	"errors"
	"io/fs"

	"github.com/refit-dev/refit/internal/engine/host"
)

func (h *Host) saved() (*host.Saved, error) { return host.LoadSaved(h.path("saved")) }

// CheckSaved refuses an operation whose saved state this agent cannot read. Nothing saved yet is
// fine.
func (h *Host) CheckSaved() error {
	if _, err := h.saved(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// track makes a change that may write some files, and records what it made of them.
func (h *Host) track(paths []string, change func() error) error {
	if len(paths) == 0 {
		return change()
	}
	return host.Track(h.path("saved"), paths, change)
}

// rollback restores those files that are what the operation wrote. A file that was changed since
// stays, and is reported.
func (h *Host) rollback(name string, paths ...string) error {
	saved, err := h.saved()
	if err != nil {
		return err
	}
	var kept []string
	err = h.Effect("restore-"+name, func() (err error) {
		kept, err = saved.Rollback(paths...)
		return err
	})
	for _, path := range kept {
		h.leave(path + ": " + changedSince)
	}
	return err
}

const changedSince = "it was changed since the operation wrote it"

// leave reports something that stays although the host is rolled back.
func (h *Host) leave(what string) {
	h.Log.Warn("left as it is by the rollback", "what", what)
	h.Left = append(h.Left, what)
}
