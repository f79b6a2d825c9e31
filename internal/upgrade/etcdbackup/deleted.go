package etcdbackup

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Deleting returns the EtcdBackup that must record that a stored attempt is deleted; nil if there
// is none. node is the host whose directory is pruned. It marks only the backups that it has taken:
// of others it may have a copy. Without a node, the directory is that of the store itself.
func Deleting(store *refitv1alpha1.BackupStoreSpec, node string, all []refitv1alpha1.EtcdBackup) func(id backup.ID) *refitv1alpha1.EtcdBackup {
	return func(id backup.ID) *refitv1alpha1.EtcdBackup {
		for i := range all {
			b := &all[i]
			if store.Path != nil && node != "" && b.Status.Node != node {
				continue
			}
			if b.Status.ReadBack != nil && b.Status.StartTime == nil && ID(b) == id {
				return b
			}
		}
		return nil
	}
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

// Deleted is the error of a backup that retention has deleted.
func Deleted(b *refitv1alpha1.EtcdBackup) error {
	return fmt.Errorf("retention deleted %s from BackupStore %s on %s: choose another backup (`refit backup list`)",
		b.Name, b.Spec.Store, phrase.Moment(b.Status.Deleted.Time))
}
