package rehearsal

import (
	"context"
	"errors"
	"time"

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

// broken is the failure of a task that should always succeed.
func (r *Runner) broken(reason, what, remedy, unit string, outcome sandbox.Outcome) error {
	f := node.ManualIntervention(reason, nil, remedy, "%s: %s", what, outcome)
	f.LogTail = node.Redact(r.tail(unit))
	if f.LogTail == "" {
		f.LogTail = node.Redact(tail(r.file(unit + ".out")))
	}
	return f
}
