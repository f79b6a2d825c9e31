package steps

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/host"
)

// reserveName is the name of the reserved disk space outside of the state directory. The kubelet
// ignores names with a dot.
const reserveName = ".refit-reserve"

// reserve reserves the disk space that a rollback needs, on each file system. The agent releases it
// when a rollback starts or the operation ends.
func reserve(_ context.Context, h *Host) error {
	files, err := h.files()
	if err != nil {
		return err
	}
	needs, err := byFileSystem(h.rollbackNeeds(files), host.Device)
	if err != nil {
		return err
	}
	return h.reserveNeeds(needs)
}

func (h *Host) reserveNeeds(needs []need) error {
	return h.Effect("reserve", func() error { return reserveAll(h.Settings, needs) })
}

func reserveAll(s settings.Settings, needs []need) error {
	for _, n := range needs {
		if n.bytes == 0 {
			continue
		}
		if err := host.Reserve(reserveFile(s, n.dir), n.bytes); err != nil {
			return err
		}
	}
	return nil
}

func reserveFile(s settings.Settings, dir string) string {
	if dir == s.StateDir {
		return s.ReserveFile()
	}
	return filepath.Join(dir, reserveName)
}

// ReleaseReserve frees the reserved disk space on all file systems.
func ReleaseReserve(s settings.Settings) error {
	return releaseAll(s, []string{s.StateDir, usrDir, kubernetesDir, kubeletDir})
}

func releaseAll(s settings.Settings, dirs []string) error {
	var all error
	for _, dir := range dirs {
		all = errors.Join(all, host.ReleaseReserve(reserveFile(s, dir)))
	}
	return all
}
