package backup

import (
	"context"
	"time"

	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// Prune returns the attempts in a BackupStore that it does not keep, and deletes them if deletes is
// true. It continues after an error.
func (c *Cluster) Prune(ctx context.Context, name string, now time.Time, deletes bool) ([]enginebackup.Listed, error) {
	found, target, err := c.open(ctx, name)
	if err != nil {
		return nil, err
	}
	all, err := c.EtcdBackups(ctx)
	if err != nil {
		return nil, err
	}
	uid, err := c.ClusterUID(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := enginebackup.List(ctx, target)
	if err != nil {
		return nil, err
	}
	expired := enginebackup.Retention{ClusterUID: uid, Keep: etcdbackup.Keep(&found.Spec), Proven: etcdbackup.Drilled(all)}.Expired(now, listed)
	if deletes {
		_, err = enginebackup.Delete(ctx, target, expired)
	}
	return expired, err
}

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
		ClusterUID: a.clusterUID, Keep: etcdbackup.Keep(&a.spec), Proven: proven,
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
	drilled := etcdbackup.Drilled(all)
	return func(id backup.ID, digest string) bool {
		return digest == a.status.Digest && a.status.Drilled != nil || drilled(id, digest)
	}, nil
}
