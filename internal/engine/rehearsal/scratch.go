package rehearsal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// lock prevents two rehearsals on a host. The lock is beside the directory, which is removed.
func (r *Runner) lock() (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(r.Dir), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(r.Dir+".lock", os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot lock the scratch directory: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, node.Transient("RehearsalRunning", err, "Wait until it ends", "another drill or rehearsal runs on this host")
		}
		return nil, fmt.Errorf("cannot lock the scratch directory: %w", err)
	}
	return file, nil
}

// prepare creates the scratch directory and checks that the restored copy fits.
func (r *Runner) prepare(snapshot string) error {
	info, err := os.Stat(snapshot)
	if err != nil {
		return fmt.Errorf("cannot read the backup: %w", err)
	}
	if err := os.MkdirAll(r.file("work"), 0o700); err != nil {
		return fmt.Errorf("cannot create the scratch directory: %w", err)
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(r.Dir, &stat); err != nil {
		return fmt.Errorf("cannot read the free disk space of %s: %w", r.Dir, err)
	}
	free := int64(stat.Bavail) * stat.Bsize
	if need := NeededSpace(info.Size()); free < need {
		return node.ManualIntervention("DiskFull", nil, "Free disk space on the file system of "+r.Dir,
			"a drill needs %d MiB in %s, and %d MiB are free", need>>20, r.Dir, free>>20)
	}
	return nil
}

// NeededSpace is the disk space of a restored copy: the database, which an API server grows, and
// the log of etcd, whose files are allocated in advance.
func NeededSpace(size int64) int64 { return size + size/4 + 512<<20 }
