package etcdbackup

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Deletion is how the EtcdBackups of a cluster record what a host deletes in a store. A nil one
// records nothing.
type Deletion struct {
	Store *refitv1alpha1.BackupStore
	// Stores are all BackupStores. Another location may have a replica, and a mark would delete the
	// original.
	Stores []refitv1alpha1.BackupStore
	// Node is the node of the host. It matters only for a directory: the host marks the backups
	// that it has taken, because of others it may have a copy.
	Node string
	All  []refitv1alpha1.EtcdBackup
}

// Marks returns the EtcdBackup that must record that a stored attempt is deleted; nil if there is
// none.
func (d *Deletion) Marks(id backup.ID) *refitv1alpha1.EtcdBackup {
	if b := d.of(id); b != nil && d.takenHere(b) {
		return b
	}
	return nil
}

// Refuses returns the EtcdBackup of a stored attempt that the host must not delete; nil if there is
// none. Another host has taken it and has not marked it: this may be its directory, which hosts
// share, or a copy.
func (d *Deletion) Refuses(id backup.ID) *refitv1alpha1.EtcdBackup {
	if b := d.of(id); b != nil && !d.takenHere(b) && b.Status.Deleted == nil {
		return b
	}
	return nil
}

func (d *Deletion) takenHere(b *refitv1alpha1.EtcdBackup) bool {
	return d.Store.Spec.Path == nil || b.Status.Node == d.Node
}

// of returns the EtcdBackup of an attempt whose objects are in the store.
func (d *Deletion) of(id backup.ID) *refitv1alpha1.EtcdBackup {
	for i := 0; d != nil && i < len(d.All); i++ {
		b := &d.All[i]
		if b.Status.ReadBack != nil && b.Status.StartTime == nil && ID(b) == id && original(b, d.Store, d.Stores) {
			return b
		}
	}
	return nil
}

// original reports whether a store has the objects of an EtcdBackup, and no replica of them: its
// spec names the store, or another one with the same location and prefix. That one may not exist
// any more: the status has its location and the key of the manifest, which has the prefix.
func original(b *refitv1alpha1.EtcdBackup, store *refitv1alpha1.BackupStore, stores []refitv1alpha1.BackupStore) bool {
	if b.Spec.Store == store.Name {
		return true
	}
	key := backup.Key(store.Spec.Prefix, ID(b), backup.ManifestName(b.Status.Digest))
	if b.Status.Location != "" && b.Status.Location == Location(&store.Spec) && b.Status.Object == key {
		return true
	}
	return slices.ContainsFunc(stores, func(s refitv1alpha1.BackupStore) bool {
		return s.Name == b.Spec.Store && s.Spec.Prefix == store.Spec.Prefix && Location(&s.Spec) == Location(&store.Spec)
	})
}

// MarkDeleted records in an EtcdBackup that its objects are deleted. It returns false, and changes
// nothing, if that is recorded or the EtcdBackup is not the one of the attempt any more.
func MarkDeleted(current *refitv1alpha1.EtcdBackup, id backup.ID, now time.Time) bool {
	if ID(current) != id || current.Status.Deleted != nil {
		return false
	}
	current.Status.Deleted = &metav1.Time{Time: now.UTC().Truncate(time.Second)}
	return true
}

// Missing returns the error of a backup that is marked as deleted, if objects of it are missing,
// and any other error as it is.
func Missing(b *refitv1alpha1.EtcdBackup, err error) error {
	if b.Status.Deleted == nil || !errors.Is(err, backup.ErrIncomplete) && !errors.Is(err, backup.ErrNotFound) {
		return err
	}
	return fmt.Errorf("retention deleted %s from BackupStore %s on %s: choose another backup (`refit backup list`)",
		b.Name, b.Spec.Store, phrase.Moment(b.Status.Deleted.Time))
}
