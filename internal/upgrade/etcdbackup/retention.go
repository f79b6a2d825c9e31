package etcdbackup

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// Retention returns the retention of a BackupStore, with what its cluster does with backups now.
// d is nil if the objects are a copy.
func Retention(
	clusterUID string, store *refitv1alpha1.BackupStoreSpec, all []refitv1alpha1.EtcdBackup, operations []refitv1alpha1.ClusterUpgrade, d *Deletion,
) backup.Retention {
	return backup.Retention{
		ClusterUID: clusterUID, Keep: Keep(store), Proven: Drilled(all), Running: Running(all), Relied: Relied(all, operations),
		Deleted: func(id backup.ID) bool {
			b := d.Marks(id)
			return b != nil && b.Status.Deleted != nil
		},
		Refused: func(id backup.ID) bool { return d.Refuses(id) != nil },
	}
}

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

// Running returns which stored attempts are in progress, according to their EtcdBackups.
func Running(all []refitv1alpha1.EtcdBackup) func(id backup.ID) bool {
	ids := map[backup.ID]bool{}
	for i := range all {
		if all[i].Status.StartTime != nil {
			ids[ID(&all[i])] = true
		}
	}
	return func(id backup.ID) bool { return ids[id] }
}

// Relied returns on which stored backups operations rely that have not ended: the newest one of
// each hop that was restored in a drill. A restore needs that of a hop that is half complete.
func Relied(all []refitv1alpha1.EtcdBackup, operations []refitv1alpha1.ClusterUpgrade) func(id backup.ID) bool {
	open := map[string]bool{}
	for i := range operations {
		open[string(operations[i].UID)] = !operations[i].HasEnded()
	}
	type hop struct{ operation, version string }
	newest := map[hop]*refitv1alpha1.EtcdBackup{}
	for i := range all {
		b := &all[i]
		of := hop{b.Labels[refitv1alpha1.LabelOperation], b.Labels[refitv1alpha1.LabelHop]}
		proven := b.Status.Drilled != nil && b.Status.Deleted == nil
		if open[of.operation] && proven && (newest[of] == nil || newest[of].CreationTimestamp.Before(&b.CreationTimestamp)) {
			newest[of] = b
		}
	}
	ids := map[backup.ID]bool{}
	for _, b := range newest {
		ids[ID(b)] = true
	}
	return func(id backup.ID) bool { return ids[id] }
}

// ID returns the current attempt of an EtcdBackup.
func ID(b *refitv1alpha1.EtcdBackup) backup.ID {
	return backup.ID{UID: string(b.UID), Attempt: int(b.Status.Attempt)}
}
