package backup

import (
	"context"
	"time"

	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// prune deletes the backups that the store does not keep. The new backup is stored already, so an
// error does not fail the attempt.
func (a *Attempt) prune(ctx context.Context) error {
	if a.spec.Keep == nil {
		return nil
	}
	if err := a.begin(ctx, stepPrune); err != nil {
		return nil //nolint:nilerr // the backup is complete
	}
	proven, err := a.proven(ctx)
	if err != nil {
		a.manager.Log.Warn("cannot read which backups were restored in a drill; the next backup deletes old ones", "store", a.ref.Store, "error", err)
		return nil
	}
	deleted, err := enginebackup.Prune(ctx, a.target, time.Now(), enginebackup.Retention{
		ClusterUID: a.clusterUID, Keep: backup.Keep{Last: int(a.spec.Keep.Last), Age: a.spec.Keep.Age.Duration}, Proven: proven,
	})
	if err != nil {
		a.manager.Log.Warn("cannot delete old backups; the next backup tries again", "store", a.ref.Store, "error", err)
	}
	a.manager.Log.Info("old backups deleted", "store", a.ref.Store, "backups", len(deleted))
	return nil
}

// proven returns which stored backups were restored in a drill: the newest of them is never
// deleted. The result of this attempt is not in its EtcdBackup yet.
func (a *Attempt) proven(ctx context.Context) (func(id backup.ID, digest string) bool, error) {
	all, err := a.manager.Environment.Objects.EtcdBackups(ctx)
	if err != nil {
		return nil, err
	}
	digests := map[string]bool{}
	for _, each := range all {
		digests[each.Status.Digest] = each.Status.Drilled != nil
	}
	digests[a.status.Digest] = a.status.Drilled != nil
	return func(_ backup.ID, digest string) bool { return digests[digest] }, nil
}
