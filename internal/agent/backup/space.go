package backup

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// The disk space that stays free. By default, the kubelet evicts pods when 15 % of the file system
// of its images are left, and the database grows until the snapshot.
const (
	minFree        = 256 << 20
	minFreePercent = 15
)

// checkSpace requires disk space for the copy of the database, for the stored backup if it is on
// the same file system and, with a drill, for the restored copy.
func (a *Attempt) checkSpace(context.Context) error {
	space, err := a.manager.Environment.Space(a.slot.dir)
	if err != nil {
		return err
	}
	copies := uint64(a.size)
	if a.trial != nil {
		copies += uint64(rehearsal.NeededSpace(a.size))
	}
	local, err := a.storesOn(space)
	if err != nil {
		return err
	}
	if local {
		copies += uint64(a.size)
	}
	reserved := max(minFree, space.Total/100*minFreePercent)
	if needed := copies + reserved; space.Bytes < needed {
		return node.ManualIntervention("DiskFull", nil, "Free disk space on the file system of "+a.manager.Dir,
			"the backup needs %d MiB in %s, of which %d MiB stay free, and %d MiB are free", needed>>20, a.manager.Dir, reserved>>20, space.Bytes>>20)
	}
	return nil
}

// storesOn reports whether the store is a directory on a file system.
func (a *Attempt) storesOn(space host.FreeSpace) (bool, error) {
	if a.spec.Path == nil {
		return false, nil
	}
	of, err := a.manager.Environment.Space(a.spec.Path.Directory)
	return of.Device == space.Device, err
}
