package backup

import (
	"context"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
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
	uid, err := c.ClusterUID(ctx)
	if err != nil {
		return nil, err
	}
	retention, deleting, err := retentionOf(ctx, c, uid, &found.Spec, func([]refitv1alpha1.EtcdBackup) string { return c.Node })
	if err != nil {
		return nil, err
	}
	listed, err := enginebackup.List(ctx, target)
	if err != nil {
		return nil, err
	}
	expired := enginebackup.Expired(now, retention, listed)
	if deletes {
		_, err = enginebackup.Delete(ctx, target, expired, marker(c, deleting, nil))
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
	retention, deleting, err := a.retention(ctx)
	if err != nil {
		a.manager.Log.Warn("cannot read which backups are in use; the next backup deletes old ones", "store", a.ref.Store, "error", err)
		return nil
	}
	deleted, err := enginebackup.Prune(ctx, a.target, time.Now(), retention, a.marker(deleting))
	if err != nil {
		a.manager.Log.Warn("cannot delete old backups; the next backup tries again", "store", a.ref.Store, "error", err)
	}
	a.manager.Log.Info("old backups deleted", "store", a.ref.Store, "backups", len(deleted))
	return nil
}

// retention returns what the store keeps. The result of this attempt is not in its EtcdBackup yet:
// it counts, and it stays even if the clock of this host is behind those that took the others.
func (a *Attempt) retention(ctx context.Context) (backup.Retention, deleting, error) {
	r, deleting, err := retentionOf(ctx, a.manager.Environment.Objects, a.clusterUID, &a.spec, a.node)
	drilled, running, relied := r.Proven, r.Running, r.Relied
	r.Proven = func(id backup.ID, digest string) bool {
		return digest == a.status.Digest && a.status.Drilled != nil || drilled(id, digest)
	}
	r.Running = func(id backup.ID) bool { return id != a.id() && running(id) }
	r.Relied = func(id backup.ID) bool { return id == a.id() || relied(id) }
	return r, deleting, err
}

// node returns the node of this host, according to the EtcdBackup of the attempt.
func (a *Attempt) node(all []refitv1alpha1.EtcdBackup) string {
	node := ""
	for i := range all {
		if all[i].UID == a.ref.UID {
			node = all[i].Status.Node
		}
	}
	return node
}

// deleting returns the EtcdBackup that must record that an attempt is deleted, nil if there is
// none.
type deleting func(backup.ID) *refitv1alpha1.EtcdBackup

// retentionOf returns what a store keeps according to the EtcdBackups of a cluster, and which of
// them record what a host deletes there.
func retentionOf(
	ctx context.Context, from Objects, clusterUID string, store *refitv1alpha1.BackupStoreSpec, node func([]refitv1alpha1.EtcdBackup) string,
) (backup.Retention, deleting, error) {
	all, err := from.EtcdBackups(ctx)
	if err != nil {
		return backup.Retention{}, nil, err
	}
	operations, err := from.ClusterUpgrades(ctx)
	deleting := etcdbackup.Deleting(store, node(all), all)
	return etcdbackup.Retention(clusterUID, store, all, operations, deleting), deleting, err
}

// marker marks the EtcdBackups of attempts as deleted, and passes them on.
func marker(objects Objects, of deleting, marked func(*refitv1alpha1.EtcdBackup)) enginebackup.Mark {
	return func(ctx context.Context, id backup.ID) error {
		b := of(id)
		if b == nil {
			return nil
		}
		if err := objects.MarkDeleted(ctx, b.Name, id, time.Now()); err != nil {
			return err
		}
		if marked != nil {
			etcdbackup.MarkDeleted(b, id, time.Now())
			marked(b)
		}
		return nil
	}
}

// marker marks what is deleted in the cluster, and in the records of this host, which it needs
// without the cluster. Other hosts read it from there.
func (a *Attempt) marker(of deleting) enginebackup.Mark {
	return marker(a.manager.Environment.Objects, of, func(b *refitv1alpha1.EtcdBackup) {
		if a.manager.Environment.Record == nil {
			return
		}
		if err := a.manager.Environment.Record(recordsOf(a.clusterUID, []refitv1alpha1.EtcdBackup{*b}, nil)); err != nil {
			a.manager.Log.Warn("cannot record on this host that a backup is deleted", "backup", b.Name, "error", err)
		}
	})
}
