package backup

import (
	"context"
	"errors"

	"github.com/refit-dev/refit/internal/engine/backup/recovered"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// explain returns the failure of a step. That an attempt was stopped is the cause of every error.
func (a *Attempt) explain(ctx context.Context, err error) *node.Failure {
	if p, is := errors.AsType[*recovered.Panic](err); is {
		return a.panicked(p)
	}
	if failure, ok := errors.AsType[*node.Failure](err); ok && ctx.Err() == nil {
		return failure
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, context.DeadlineExceeded):
		return node.Transient("BackupTimeout", err, "Check the network to the store and the size of etcd (`etcdctl endpoint status`)",
			"the backup took too long")
	case errors.Is(cause, context.Canceled):
		return node.Transient("Interrupted", nil, "Refit starts the next attempt", "refit-agent was stopped during the backup")
	case cause != nil:
		return node.Transient("BackupStopped", cause, "Refit starts the next attempt", "the backup was stopped")
	}
	store := "BackupStore " + a.ref.Store
	switch {
	case errors.Is(err, backup.ErrNotFound):
		return node.ManualIntervention("StoreNotFound", err, "Create the bucket or the directory of "+store, "%s does not exist", store)
	case errors.Is(err, backup.ErrDenied):
		return node.ManualIntervention("StoreDenied", err, "Check the credentials of "+store+" and its permissions", "%s denies access", store)
	case errors.Is(err, backup.ErrFull):
		return node.ManualIntervention("StoreFull", err, "Delete backups, or lower spec.keep of "+store, "%s is full", store)
	case errors.Is(err, backup.ErrUnreachable):
		return node.Transient("StoreUnreachable", err, "Check that this host reaches the address of "+store, "%s is unreachable", store)
	case errors.Is(err, backup.ErrExists):
		return node.Transient("AttemptExists", err, "Refit starts the next attempt", "%s has objects of this attempt already", store)
	case errors.Is(err, backup.ErrCorrupt), errors.Is(err, backup.ErrOther), errors.Is(err, backup.ErrIncomplete):
		return node.Transient("StoreCorrupt", err, "Check the store: it does not return what was written to it", "%s does not contain what was stored", store)
	}
	return node.ManualIntervention("BackupFailed", err, "Check the agent's log on the host: `journalctl -u refit-agent`", "the backup failed")
}
