package steps

import (
	"errors"
	"io/fs"

	"github.com/refit-dev/refit/internal/engine/host"
)

func (h *Host) saved() (*host.Saved, error) { return host.LoadSaved(h.path("saved")) }

// CheckSaved returns an error if this agent cannot read the saved state of the operation.
func (h *Host) CheckSaved() error {
	if _, err := h.saved(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// track runs a change that may write files and records what it wrote.
func (h *Host) track(paths []string, change func() error) error {
	if len(paths) == 0 {
		return change()
	}
	return host.Track(h.path("saved"), paths, change)
}

// rollback restores files that the operation wrote. It keeps and reports files that were changed
// since.
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
		h.reportKept(path + ": " + changedSince)
	}
	if err == nil {
		h.reportLost(saved, paths)
	}
	return err
}

const changedSince = "it was changed since the operation wrote it"

// reportKept records a change that the rollback keeps.
func (h *Host) reportKept(what string) {
	h.Log.Warn("kept by the rollback", "what", what)
	h.Left = append(h.Left, what)
}
