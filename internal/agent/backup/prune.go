package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Prune returns the attempts in a BackupStore that it does not keep, and deletes them if deletes is
// true. It continues after an error, and returns what is deleted. The error is also that some of
// them belong to other hosts.
func (c *Cluster) Prune(ctx context.Context, name string, now time.Time, deletes bool) ([]enginebackup.Listed, error) {
	found, target, err := c.open(ctx, name)
	if err != nil {
		return nil, err
	}
	uid, err := c.ClusterUID(ctx)
	if err != nil {
		return nil, err
	}
	retention, deletion, err := retentionOf(ctx, c, uid, found, func([]refitv1alpha1.EtcdBackup) string { return c.Node })
	if err != nil {
		return nil, err
	}
	listed, err := enginebackup.List(ctx, target)
	if err != nil {
		return nil, err
	}
	expired, refused := enginebackup.Expired(now, retention, listed)
	if deletes {
		var deleted []backup.ID
		deleted, err = enginebackup.Delete(ctx, target, expired, marker(c, deletion, nil))
		expired = slices.DeleteFunc(expired, func(l enginebackup.Listed) bool { return !slices.Contains(deleted, l.ID) })
	}
	return expired, errors.Join(err, refusal(deletion, refused))
}

// refusal is the error of old backups that other hosts have taken; nil without any. Their
// EtcdBackups are not marked here, because the directory may have copies of them.
func refusal(of *etcdbackup.Deletion, refused []enginebackup.Listed) error {
	if len(refused) == 0 {
		return nil
	}
	var names, nodes []string
	for _, l := range refused {
		b := of.Refuses(l.ID)
		names = append(names, b.Name)
		if !slices.Contains(nodes, b.Status.Node) {
			nodes = append(nodes, b.Status.Node)
		}
	}
	slices.Sort(names)
	slices.Sort(nodes)
	backups, hosts := phrase.Fold(names, phrase.FewNames), phrase.Fold(nodes, phrase.FewNames)
	return node.ManualIntervention("BackupOfAnotherHost", nil,
		fmt.Sprintf("Run `refit-agent backup prune %s --yes` on %s as root. If a host does not exist any more, delete these EtcdBackups and no others "+
			"(`kubectl delete etcdbackup %s`), then prune here", of.Store.Name, hosts, strings.Join(names, " ")),
		"this host does not delete %d old backups in %s, which other hosts have taken: %s", len(names), of.Store.Spec.Path.Directory, backups)
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
	retention, deletion, err := a.retention(ctx)
	if err != nil {
		a.manager.Log.Warn("cannot read which backups are in use; the next backup deletes old ones", "store", a.ref.Store, "error", err)
		return nil
	}
	deleted, refused, err := enginebackup.Prune(ctx, a.target, time.Now(), retention, a.marker(deletion))
	if err != nil {
		a.manager.Log.Warn("cannot delete old backups; the next backup tries again", "store", a.ref.Store, "error", err)
	}
	if failure, is := errors.AsType[*node.Failure](refusal(deletion, refused)); is {
		a.manager.Log.Warn("old backups of other hosts stay",
			"store", a.ref.Store, "reason", failure.Reason, "message", failure.Text(), "remedy", failure.Remedy)
	}
	a.manager.Log.Info("old backups deleted", "store", a.ref.Store, "backups", len(deleted))
	return nil
}

// retention returns what the store keeps. The result of this attempt is not in its EtcdBackup yet:
// it counts, and it stays even if the clock of this host is behind those that took the others.
func (a *Attempt) retention(ctx context.Context) (backup.Retention, *etcdbackup.Deletion, error) {
	store := &refitv1alpha1.BackupStore{ObjectMeta: metav1.ObjectMeta{Name: a.ref.Store}, Spec: a.spec}
	r, deletion, err := retentionOf(ctx, a.manager.Environment.Objects, a.clusterUID, store, a.node)
	drilled, running, relied := r.Proven, r.Running, r.Relied
	r.Proven = func(id backup.ID, digest string) bool {
		return digest == a.status.Digest && a.status.Drilled != nil || drilled(id, digest)
	}
	r.Running = func(id backup.ID) bool { return id != a.id() && running(id) }
	r.Relied = func(id backup.ID) bool { return id == a.id() || relied(id) }
	return r, deletion, err
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

// retentionOf returns what a store keeps according to the EtcdBackups of a cluster, and which of
// them record what a host deletes there.
func retentionOf(
	ctx context.Context, from Objects, clusterUID string, store *refitv1alpha1.BackupStore, host func([]refitv1alpha1.EtcdBackup) string,
) (backup.Retention, *etcdbackup.Deletion, error) {
	all, err := from.EtcdBackups(ctx)
	if err != nil {
		return backup.Retention{}, nil, err
	}
	stores, err := from.BackupStores(ctx)
	if err != nil {
		return backup.Retention{}, nil, err
	}
	operations, err := from.ClusterUpgrades(ctx)
	deletion := &etcdbackup.Deletion{Store: store, Stores: stores, Node: host(all), All: all}
	return etcdbackup.Retention(clusterUID, &store.Spec, all, operations, deletion), deletion, err
}

// marker marks the EtcdBackups of attempts as deleted, and passes them on.
func marker(objects Objects, of *etcdbackup.Deletion, marked func(*refitv1alpha1.EtcdBackup)) enginebackup.Mark {
	return func(ctx context.Context, id backup.ID) error {
		b := of.Marks(id)
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
func (a *Attempt) marker(of *etcdbackup.Deletion) enginebackup.Mark {
	return marker(a.manager.Environment.Objects, of, func(b *refitv1alpha1.EtcdBackup) {
		if a.manager.Environment.Record == nil {
			return
		}
		if err := a.manager.Environment.Record(recordsOf(a.clusterUID, []refitv1alpha1.EtcdBackup{*b}, nil)); err != nil {
			a.manager.Log.Warn("cannot record on this host that a backup is deleted", "backup", b.Name, "error", err)
		}
	})
}
