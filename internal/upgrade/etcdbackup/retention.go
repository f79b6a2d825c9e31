package etcdbackup

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// Keep returns the retention of a store. Without spec.keep it keeps every backup.
func Keep(store *refitv1alpha1.BackupStoreSpec) backup.Keep {
	if store.Keep == nil {
		return backup.Keep{}
	}
	return backup.Keep{Last: int(store.Keep.Last), Age: store.Keep.Age.Duration}
}

// Drilled returns which stored backups were restored in a drill, according to their EtcdBackups.
func Drilled(all []refitv1alpha1.EtcdBackup) func(id backup.ID, digest string) bool {
	digests := map[string]bool{}
	for i := range all {
		if s := &all[i].Status; s.Digest != "" && s.Drilled != nil {
			digests[s.Digest] = true
		}
	}
	return func(_ backup.ID, digest string) bool { return digests[digest] }
}
