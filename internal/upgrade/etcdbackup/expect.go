package etcdbackup

import (
	"errors"
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// Expect returns what a store must contain of a backup: the objects of this EtcdBackup and of no
// other, as its agent has recorded them. A backup that is marked as deleted may still have them
// all: Missing explains it if not.
func Expect(b *refitv1alpha1.EtcdBackup, store *refitv1alpha1.BackupStoreSpec, clusterUID string) (backup.Expected, error) {
	s := &b.Status
	if s.Digest == "" || s.ReadBack == nil {
		return backup.Expected{}, fmt.Errorf("EtcdBackup %s has not succeeded: there is nothing to verify", b.Name)
	}
	if clusterUID == "" {
		return backup.Expected{}, errors.New("the namespace kube-system has no UID, which identifies the cluster")
	}
	e := backup.Expected{
		ID: backup.ID{UID: string(b.UID), Attempt: int(s.Attempt)}, ClusterUID: clusterUID,
		ManifestDigest: s.Digest, Revision: s.Revision, Size: s.Size,
	}
	if want := backup.Key(store.Prefix, e.ID, backup.ManifestName(s.Digest)); s.Object != "" && s.Object != want {
		return backup.Expected{}, fmt.Errorf("%w: the object of EtcdBackup %s is %s, and its BackupStore has it as %s: "+
			"its status or the prefix of the BackupStore has changed", backup.ErrOther, b.Name, s.Object, want)
	}
	return e, nil
}
