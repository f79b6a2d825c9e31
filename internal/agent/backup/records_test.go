package backup

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func succeeded(uid types.UID, at time.Time) refitv1alpha1.EtcdBackup {
	b := refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "b-" + string(uid), UID: uid}, Spec: refitv1alpha1.EtcdBackupSpec{Store: "local"}}
	b.Status.Attempt, b.Status.Digest, b.Status.ReadBack = 1, "sha256:"+string(uid), &metav1.Time{Time: at}
	return b
}

// A restore must find the digest of a backup whose EtcdBackup the restored cluster no longer has.
func TestRecordsKeepBackupsThatARestoredClusterHasLost(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)
	store := refitv1alpha1.BackupStore{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Spec: refitv1alpha1.BackupStoreSpec{Prefix: "p"}}
	failed := succeeded("failed", at)
	failed.Status.ReadBack = nil
	first := merge(backup.Records{}, recordsOf(clusterUID, []refitv1alpha1.EtcdBackup{succeeded("old", at), succeeded("new", at.Add(time.Hour)), failed}, []refitv1alpha1.BackupStore{store}))
	if len(first.Backups) != 2 || first.Backups[0].UID != "new" || first.Stores["local"].Prefix != "p" {
		t.Fatalf("%+v", first)
	}
	restored := merge(first, recordsOf(clusterUID, []refitv1alpha1.EtcdBackup{succeeded("old", at)}, nil))
	if len(restored.Backups) != 2 || restored.Backups[0].UID != "new" || restored.Stores["local"].Prefix != "p" {
		t.Errorf("%+v", restored)
	}
	// etcd without data starts an empty cluster with another UID.
	empty := merge(first, recordsOf("another-cluster", nil, nil))
	if len(empty.Backups) != 2 || empty.Backups[0].ClusterUID != clusterUID || empty.Stores["local"].Prefix != "p" {
		t.Errorf("the records are forgotten: %+v", empty)
	}
}

func TestRecordsHaveEveryBackupThatSucceeded(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)
	failed, drilled := succeeded("failed", at), succeeded("old", at)
	failed.Status.ReadBack, drilled.Status.Drilled = nil, &metav1.Time{Time: at}
	records := recordsOf(clusterUID, []refitv1alpha1.EtcdBackup{succeeded("old", at)}, nil)
	if !has(records, []refitv1alpha1.EtcdBackup{succeeded("old", at), failed}) {
		t.Error("a recorded backup is recorded again")
	}
	if has(records, []refitv1alpha1.EtcdBackup{succeeded("new", at)}) || has(records, []refitv1alpha1.EtcdBackup{drilled}) {
		t.Error("a new or changed backup is not recorded")
	}
}

func TestRecordsHaveWhatIsDeleted(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)
	before, deleted := succeeded("old", at), succeeded("old", at)
	deleted.Status.Deleted = &metav1.Time{Time: at.Add(time.Hour)}
	records := recordsOf(clusterUID, []refitv1alpha1.EtcdBackup{before}, nil)
	if has(records, []refitv1alpha1.EtcdBackup{deleted}) {
		t.Error("that a backup is deleted is not recorded")
	}
	marked := merge(records, recordsOf(clusterUID, []refitv1alpha1.EtcdBackup{deleted}, nil))
	if marked.Backups[0].Deleted.IsZero() || !has(marked, []refitv1alpha1.EtcdBackup{deleted}) || !has(marked, []refitv1alpha1.EtcdBackup{before}) {
		t.Errorf("recorded: %+v", marked.Backups)
	}
	// The restored cluster has the state from before.
	if restored := merge(marked, records); restored.Backups[0].Deleted.IsZero() {
		t.Error("a restored cluster revives a deleted backup")
	}
	var later []refitv1alpha1.EtcdBackup
	for n := range maxRecords - 1 {
		later = append(later, succeeded(types.UID(rune('a'+n)), at.Add(-time.Duration(n+1)*time.Hour)))
	}
	full := merge(marked, recordsOf(clusterUID, later, nil))
	full = merge(full, recordsOf(clusterUID, []refitv1alpha1.EtcdBackup{succeeded("new", at.Add(time.Hour))}, nil))
	if len(full.Backups) != maxRecords || full.Backups[0].UID != "new" || slices.ContainsFunc(full.Backups, func(r backup.Record) bool { return r.UID == "old" }) {
		t.Errorf("a deleted backup replaces one that can be restored: %+v", full.Backups)
	}
}

func TestABackupInItsDrillIsNotRecordedByOtherHosts(t *testing.T) {
	running := succeeded("running", time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC))
	running.Status.StartTime = running.Status.ReadBack
	if got := recordsOf(clusterUID, []refitv1alpha1.EtcdBackup{running}, nil); len(got.Backups) > 0 {
		t.Errorf("recorded: %+v", got.Backups)
	}
}

// Without a name, a restore chooses the newest record.
func TestABackupThatADrillRefutesIsNotRecorded(t *testing.T) {
	b, path := drilledBed(t), filepath.Join(t.TempDir(), "backups.json")
	b.Environment.Record = func(added backup.Records) error { return AddRecords(path, added) }
	b.Environment.Forget = func(id backup.ID) error { return ForgetRecord(path, id) }
	b.take(t, 1)
	b.trials.cannot = node.ManualIntervention("BackupDiffers", nil, "Take another backup", "the restored backup differs")
	if got := b.take(t, 2); got.Phase != refitv1alpha1.BackupFailed || b.attempts(t)["2"] {
		t.Fatalf("got %+v", got)
	}
	if got, err := ReadRecords(path); err != nil || len(got.Backups) != 1 || got.Backups[0].Attempt != 1 {
		t.Errorf("recorded: %+v, %v", got.Backups, err)
	}
}

func TestRecordsAreBounded(t *testing.T) {
	var all []refitv1alpha1.EtcdBackup
	for i := range 2 * maxRecords {
		all = append(all, succeeded(types.UID(rune('a'+i)), time.Unix(int64(i), 0)))
	}
	got := merge(backup.Records{}, recordsOf(clusterUID, all, nil))
	if len(got.Backups) != maxRecords || got.Backups[0].Time.Unix() != 2*maxRecords-1 {
		t.Errorf("%d records, the first of %s", len(got.Backups), got.Backups[0].Time)
	}
}

func TestHostWithoutRecordsHasNone(t *testing.T) {
	records, err := ReadRecords(filepath.Join(t.TempDir(), "backups.json"))
	if err != nil || len(records.Backups) != 0 {
		t.Errorf("%+v %v", records, err)
	}
}

// Without the API, too, credentials go only to pinned servers.
func TestStoreThatIsNotPinnedIsNotOpenedForARestore(t *testing.T) {
	dir := t.TempDir()
	spec := &refitv1alpha1.BackupStoreSpec{Path: &refitv1alpha1.PathStore{Directory: dir}}
	writeTree(t, dir, map[string]string{"stores.yaml": "locations: [/elsewhere]\n"})
	if _, err := OpenWithoutAPI(spec, filepath.Join(dir, "stores.yaml"), dir); err == nil {
		t.Error("the store was opened")
	}
	writeTree(t, dir, map[string]string{"stores.yaml": "locations: [" + dir + "]\n"})
	if _, err := OpenWithoutAPI(spec, filepath.Join(dir, "stores.yaml"), dir); err != nil {
		t.Error(err)
	}
}
