package rehearsal

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// cleanupTimeout bounds a cleanup, which does not end with the context of its caller.
const cleanupTimeout = 2 * time.Minute

// joinCleanup runs a cleanup even if the context has ended, and joins both errors.
func joinCleanup(ctx context.Context, err error, clean func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	return errors.Join(err, clean(ctx))
}

// broken is the failure of a process that should always succeed. Its reason applies only if the
// process failed by itself: one that was killed proves nothing, and a bad backup is deleted.
func (r *Runner) broken(reason, what, remedy, unit string, outcome sandbox.Outcome) error {
	log := r.tail(unit)
	if log == "" {
		log = tail(r.file(unit + ".out"))
	}
	f := node.ManualIntervention(reason, nil, remedy, "%s: %s", what, outcome)
	switch {
	case strings.Contains(log, unix.ENOSPC.Error()):
		f = node.ManualIntervention("DiskFull", nil, "Free disk space on the file system of "+r.Dir, "%s: no disk space left", what)
	case !outcome.FailedItself():
		f = node.Transient("UnitInterrupted", nil, "Free memory and CPU on this host, or try another control plane node", "%s: %s", what, outcome)
	}
	f.LogTail = node.Redact(log)
	return f
}
