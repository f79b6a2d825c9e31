package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// maxRecords bounds the number of recorded backups.
const maxRecords = 20

// ReadRecords reads the records of the host. Without a file there are none.
func ReadRecords(path string) (backup.Records, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return backup.Records{}, nil
	}
	if err != nil {
		return backup.Records{}, durable.Explain(err, "read", path)
	}
	var records backup.Records
	if err := json.Unmarshal(text, &records); err != nil {
		return backup.Records{}, fmt.Errorf("cannot read the records of backups in %s: %w", path, err)
	}
	return records, nil
}

// Record writes the records of the host from the objects of the cluster. Without a new backup it
// sends one request.
func (c *Cluster) Record(ctx context.Context, path string) error {
	backups, err := c.EtcdBackups(ctx)
	if err != nil {
		return err
	}
	before, err := ReadRecords(path)
	if err == nil && has(before, backups) {
		return nil
	}
	uid, err := c.ClusterUID(ctx)
	if err != nil {
		return err
	}
	stores, err := c.BackupStores(ctx)
	if err != nil {
		return err
	}
	return AddRecords(path, recordsOf(uid, backups, stores))
}

// has reports whether every backup that succeeded is recorded as it is.
func has(r backup.Records, backups []refitv1alpha1.EtcdBackup) bool {
	for _, b := range recordsOf("", backups, nil).Backups {
		if !slices.ContainsFunc(r.Backups, func(known backup.Record) bool {
			return known.ID() == b.ID() && known.Digest == b.Digest && known.Node == b.Node && known.Drilled == b.Drilled &&
				(b.Deleted.IsZero() || !known.Deleted.IsZero())
		}) {
			return false
		}
	}
	return true
}

// recordsLock guards the file: an attempt and the agent change it.
var recordsLock sync.Mutex

// AddRecords adds records to those of the host.
func AddRecords(path string, added backup.Records) error {
	recordsLock.Lock()
	defer recordsLock.Unlock()
	before, err := ReadRecords(path)
	if err != nil {
		before = backup.Records{} // damaged: written again
	}
	after := merge(before, added)
	if reflect.DeepEqual(before, after) {
		return nil
	}
	return writeRecords(path, after)
}

func writeRecords(path string, records backup.Records) error {
	text, err := json.MarshalIndent(records, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(path, append(text, '\n'), 0o600)
}

// ForgetRecord removes the record of a backup that a drill has refuted.
func ForgetRecord(path string, id backup.ID) error {
	recordsLock.Lock()
	defer recordsLock.Unlock()
	records, err := ReadRecords(path)
	if err != nil {
		return err
	}
	records.Backups = slices.DeleteFunc(records.Backups, func(r backup.Record) bool { return r.ID() == id.String() })
	return writeRecords(path, records)
}

// recordsOf returns the backups of a cluster that succeeded. One that is still in its drill has
// not.
func recordsOf(clusterUID string, backups []refitv1alpha1.EtcdBackup, stores []refitv1alpha1.BackupStore) backup.Records {
	records := backup.Records{Stores: map[string]refitv1alpha1.BackupStoreSpec{}}
	for i := range stores {
		records.Stores[stores[i].Name] = stores[i].Spec
	}
	for i := range backups {
		if b := &backups[i]; b.Status.ReadBack != nil && b.Status.Digest != "" && b.Status.StartTime == nil {
			records.Backups = append(records.Backups, recordOf(clusterUID, b))
		}
	}
	return records
}

// merge adds records to the ones before, and replaces those of the same backup and store. Nothing
// is forgotten: a restored cluster does not have the objects of later backups, nor that earlier
// ones were deleted since, and one whose data was deleted has none. The limit drops those that are
// deleted first.
func merge(before, added backup.Records) backup.Records {
	after := backup.Records{Stores: map[string]refitv1alpha1.BackupStoreSpec{}, Backups: slices.Clone(added.Backups)}
	maps.Copy(after.Stores, before.Stores)
	maps.Copy(after.Stores, added.Stores)
	for _, r := range before.Backups {
		switch i := slices.IndexFunc(after.Backups, func(other backup.Record) bool { return other.ID() == r.ID() }); {
		case i < 0:
			after.Backups = append(after.Backups, r)
		case after.Backups[i].Deleted.IsZero():
			after.Backups[i].Deleted = r.Deleted
		}
	}
	slices.SortStableFunc(after.Backups, func(a, b backup.Record) int { return b.Time.Compare(a.Time) })
	for excess := len(after.Backups) - maxRecords; excess > 0; excess-- {
		last := len(after.Backups) - 1
		for i := last; i >= 0; i-- {
			if !after.Backups[i].Deleted.IsZero() {
				last = i
				break
			}
		}
		after.Backups = slices.Delete(after.Backups, last, last+1)
	}
	return after
}

func recordOf(clusterUID string, b *refitv1alpha1.EtcdBackup) backup.Record {
	at := b.Status.ReadBack
	if b.Status.Uploaded != nil {
		at = b.Status.Uploaded
	}
	var deleted time.Time
	if b.Status.Deleted != nil {
		deleted = b.Status.Deleted.UTC()
	}
	return backup.Record{
		ClusterUID: clusterUID, Name: b.Name, Deleted: deleted, UID: string(b.UID), Attempt: int(b.Status.Attempt), Store: b.Spec.Store, Node: b.Status.Node,
		Digest: b.Status.Digest, Revision: b.Status.Revision, Time: at.UTC(), Drilled: b.Status.Drilled != nil,
	}
}

// record records the stored backup on this host. The cluster reports it later, and other control
// plane hosts record it then.
func (a *Attempt) record() {
	if a.manager.Environment.Record == nil {
		return
	}
	err := a.manager.Environment.Record(backup.Records{
		Stores: map[string]refitv1alpha1.BackupStoreSpec{a.ref.Store: a.spec},
		Backups: []backup.Record{{
			ClusterUID: a.clusterUID, Name: a.ref.Name, UID: string(a.ref.UID), Attempt: int(a.ref.Attempt), Store: a.ref.Store, Digest: a.status.Digest,
			Revision: a.status.Revision, Time: a.status.Uploaded.UTC(),
		}},
	})
	if err != nil {
		a.manager.Log.Warn("cannot record the backup on this host", "error", err)
	}
}
