package etcdbackup

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

func bucket(name, bucket, prefix string) refitv1alpha1.BackupStore {
	return refitv1alpha1.BackupStore{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: refitv1alpha1.BackupStoreSpec{
		S3: &refitv1alpha1.S3Store{Endpoint: "https://s3.example.com", Bucket: bucket}, Prefix: prefix,
	}}
}

func directory(name, path string) refitv1alpha1.BackupStore {
	return refitv1alpha1.BackupStore{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: refitv1alpha1.BackupStoreSpec{Path: &refitv1alpha1.PathStore{Directory: path}}}
}

// A mark on an EtcdBackup makes the next run delete the objects in its own store.
func TestOnlyTheStoreOfABackupRecordsItsDeletion(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC))
	taken := refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", UID: "a"}, Spec: refitv1alpha1.EtcdBackupSpec{Store: "offsite"}}
	taken.Status.Node, taken.Status.Attempt, taken.Status.ReadBack, taken.Status.Digest = "cp-1", 1, &at, "sha256:"+strings.Repeat("e", 64)
	offsite, local, none := bucket("offsite", "backups", "prod"), directory("offsite", "/mnt/backups"), refitv1alpha1.BackupStore{}
	for situation, test := range map[string]struct {
		pruned  refitv1alpha1.BackupStore
		offsite *refitv1alpha1.BackupStore // nil if it is gone
		// stored is the store that the status describes; empty in that of a former controller.
		stored refitv1alpha1.BackupStore
		marked bool
	}{
		"its store":                            {offsite, &offsite, none, true},
		"its store, which was just deleted":    {offsite, nil, none, true},
		"its store, which has moved":           {bucket("offsite", "moved", "prod"), nil, offsite, true},
		"another name of its store":            {bucket("alias", "backups", "prod"), &offsite, none, true},
		"a replica in another bucket":          {bucket("replica", "copies", "prod"), &offsite, none, false},
		"a replica below another prefix":       {bucket("replica", "backups", "copies"), &offsite, none, false},
		"its store was renamed":                {bucket("renamed", "backups", "prod"), nil, offsite, true},
		"renamed, and the location is unknown": {bucket("renamed", "backups", "prod"), nil, none, false},
		"renamed, and a replica is pruned":     {bucket("replica", "copies", "prod"), nil, offsite, false},
		"renamed, and another prefix":          {bucket("replica", "backups", "copies"), nil, offsite, false},
		"a copy in a directory":                {directory("copy", "/mnt/copies"), &offsite, offsite, false},
		"its directory":                        {local, &local, local, true},
		"its directory was renamed":            {directory("renamed", "/mnt/backups"), nil, local, true},
		"a copy in another directory":          {directory("copy", "/mnt/copies"), &local, local, false},
		"another name of the same directory":   {directory("alias", "/mnt/backups"), &local, none, true},
		"a replica in a bucket of a directory": {bucket("replica", "copies", ""), &local, local, false},
	} {
		t.Run(situation, func(t *testing.T) {
			stores := []refitv1alpha1.BackupStore{test.pruned}
			if test.offsite != nil && test.offsite.Name != test.pruned.Name {
				stores = append(stores, *test.offsite)
			}
			taken := taken
			if taken.Status.Location = Location(&test.stored.Spec); taken.Status.Location != "" {
				taken.Status.Object = backup.Key(test.stored.Spec.Prefix, ID(&taken), backup.ManifestName(taken.Status.Digest))
			}
			d := &Deletion{Store: &test.pruned, Stores: stores, Node: "cp-1", All: []refitv1alpha1.EtcdBackup{taken}}
			if marked := d.Marks(backup.ID{UID: "a", Attempt: 1}) != nil; marked != test.marked {
				t.Errorf("marked: %t", marked)
			}
		})
	}
}

// A host does not know whether it shares the directory of a store with the one that took a backup.
func TestAHostLeavesTheBackupsOfOthersInADirectory(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC))
	local, offsite := directory("local", "/mnt/backups"), bucket("local", "backups", "")
	for situation, test := range map[string]struct {
		store          refitv1alpha1.BackupStore
		node           string
		deleted        *metav1.Time
		marks, refuses bool
	}{
		"its own":                              {local, "cp-1", nil, true, false},
		"of another host":                      {local, "cp-2", nil, false, true},
		"of another host, which has marked it": {local, "cp-2", &at, false, false},
		"the node is unknown":                  {local, "", nil, false, true},
		"of another host in a bucket":          {offsite, "cp-2", nil, true, false},
		"of another host in a renamed store":   {directory("renamed", "/mnt/backups"), "cp-2", nil, false, true},
	} {
		t.Run(situation, func(t *testing.T) {
			taken := refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{UID: "a"}, Spec: refitv1alpha1.EtcdBackupSpec{Store: "local"}}
			taken.Status.Node, taken.Status.Attempt, taken.Status.ReadBack, taken.Status.Deleted = "cp-1", 1, &at, test.deleted
			taken.Status.Location, taken.Status.Object = "/mnt/backups", backup.Key("", ID(&taken), backup.ManifestName(""))
			d, id := &Deletion{Store: &test.store, Node: test.node, All: []refitv1alpha1.EtcdBackup{taken}}, backup.ID{UID: "a", Attempt: 1}
			if marks, refuses := d.Marks(id) != nil, d.Refuses(id) != nil; marks != test.marks || refuses != test.refuses {
				t.Errorf("marks %t, refuses %t", marks, refuses)
			}
		})
	}
}
