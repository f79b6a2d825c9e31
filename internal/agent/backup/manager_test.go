package backup

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestBackupIsStoredEncryptedAndReadBack(t *testing.T) {
	b := newBed(t)
	got := b.take(t, 1)
	if got.Phase != refitv1alpha1.BackupSucceeded || got.Revision != 3 || got.Keys != 3 || got.Size == 0 || got.Hash == "" ||
		got.Uploaded == nil || got.ReadBack == nil || got.Step != "" {
		t.Fatalf("got %+v", got)
	}
	for path, text := range b.stored(t) {
		if strings.Contains(text, secretText) {
			t.Errorf("%s contains plain text", path)
		}
	}
	opened, err := store.OpenPath(b.directory)
	if err != nil {
		t.Fatal(err)
	}
	expected := backup.Expected{ID: backup.ID{UID: backupUID, Attempt: 1}, ClusterUID: clusterUID, ManifestDigest: got.Digest}
	_, err = enginebackup.Verify(t.Context(), enginebackup.Target{Store: opened, Prefix: "prod"}, expected, []age.Identity{b.identity})
	if err != nil {
		t.Errorf("the backup cannot be verified: %v", err)
	}
	if _, err := os.Stat(filepath.Join(b.Dir, backupUID+"-1", "etcd.db")); !os.IsNotExist(err) {
		t.Errorf("the copy of the database is left: %v", err)
	}
}

func TestBackupIsRefused(t *testing.T) {
	for reason, change := range map[string]func(*bed){
		"StoreNotPinned":      func(b *bed) { b.pins.Recipients = nil },
		"BackupDeleted":       func(b *bed) { b.request.DeletionTimestamp = &metav1.Time{Time: time.Now()} },
		"EtcdLeader":          func(b *bed) { b.facts.Leader = true },
		"EtcdMemberUnhealthy": func(b *bed) { b.facts.Healthy = false },
		"DiskFull":            func(b *bed) { b.space = host.FreeSpace{Bytes: minFree, Total: 1 << 30} },
		"StoreNotFound": func(b *bed) {
			b.store.Spec.Path.Directory = filepath.Join(b.directory, "unmounted")
			b.pins.Locations = []string{b.store.Spec.Path.Directory}
		},
		"SnapshotInvalid":        func(b *bed) { b.snapshot = append([]byte("x"), b.snapshot[1:]...) },
		"SnapshotInvalid: pages": func(b *bed) { b.snapshot = withDigest(make([]byte, len(b.snapshot)-sha256.Size)) },
		"HostFilesUnreadable": func(b *bed) {
			b.Environment.HostFiles = func(io.Writer) error { return os.ErrPermission }
		},
	} {
		t.Run(reason, func(t *testing.T) {
			reason, _, _ := strings.Cut(reason, ":")
			b := newBed(t)
			change(b)
			got := b.take(t, 1)
			if got.Phase != refitv1alpha1.BackupFailed || got.Error == nil || got.Error.Reason != reason || got.Error.Remedy == "" || got.ReadBack != nil {
				t.Fatalf("got %+v, error %+v", got, got.Error)
			}
			if left := b.stored(t); len(left) > 0 {
				t.Errorf("the store has %d objects", len(left))
			}
		})
	}
}

func TestOtherLocationIsNotPinned(t *testing.T) {
	b := newBed(t)
	b.pins.Locations = []string{"/mnt/backups"}
	if got := b.take(t, 1); got.Error == nil || got.Error.Reason != "StoreNotPinned" || !strings.Contains(got.Error.Message, b.directory) {
		t.Errorf("got %+v", got.Error)
	}
}

func TestOnlyMemberIsBackedUpAsLeader(t *testing.T) {
	b := newBed(t)
	b.facts.Leader, b.facts.Members = true, []string{"cp-1"}
	if got := b.take(t, 1); got.Phase != refitv1alpha1.BackupSucceeded {
		t.Errorf("got %+v", got.Error)
	}
}

// A kill at each step leaves a slot whose attempt is never continued: the next one starts over.
func TestKilledAttemptIsNotContinued(t *testing.T) {
	for _, step := range Steps {
		t.Run(step.Name, func(t *testing.T) {
			b := drilledBed(t)
			b.store.Spec.Keep = &refitv1alpha1.BackupRetention{Last: 1}
			killed := t.TempDir()
			b.Point = func(name string) {
				if name == "backup-"+step.Name+"/started" {
					copyTree(t, b.Dir, killed)
				}
			}
			b.take(t, 1)
			restarted := b.manager(killed)
			if err := restarted.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := b.last(); got.Phase != refitv1alpha1.BackupFailed || got.Error.Reason != "Interrupted" || got.Error.Step != step.Name || got.Attempt != 1 {
				t.Fatalf("got %+v, error %+v", got, got.Error)
			}
			if left, _ := filepath.Glob(filepath.Join(killed, "*", "etcd.db")); len(left) > 0 {
				t.Errorf("the copy of the database is left: %v", left)
			}
			b.Manager = restarted
			if again, err := b.Open(b.ref(1)); again != nil || err != nil || b.last().Phase != refitv1alpha1.BackupFailed {
				t.Errorf("the same attempt starts again: %v", err)
			}
			if got := b.take(t, 2); got.Phase != refitv1alpha1.BackupSucceeded || got.Attempt != 2 {
				t.Errorf("the next attempt: %+v", got.Error)
			}
		})
	}
}

func TestStoppedAttemptLeavesNothing(t *testing.T) {
	b := newBed(t)
	reached := make(chan struct{})
	b.Environment.HostFiles = func(to io.Writer) error {
		close(reached)
		for {
			if _, err := to.Write(make([]byte, 1<<20)); err != nil {
				return err
			}
		}
	}
	attempt, err := b.Open(b.ref(1))
	if err != nil {
		t.Fatal(err)
	}
	b.Run(t.Context(), attempt)
	<-reached
	b.Stop("an upgrade disrupts this host: swap-etcd")
	got := b.last()
	if got.Phase != refitv1alpha1.BackupFailed || got.Error.Reason != "BackupStopped" || !strings.Contains(got.Error.Message, "swap-etcd") {
		t.Errorf("got %+v", got.Error)
	}
	if left := b.stored(t); len(left) > 0 {
		t.Errorf("the store has %d objects", len(left))
	}
}

func TestRefusedAttemptIsReported(t *testing.T) {
	b := newBed(t)
	attempt, err := b.Open(b.ref(1))
	if err != nil {
		t.Fatal(err)
	}
	b.Refuse(attempt, node.Transient(node.RefusedBusy, nil, "Refit tries another node", "an upgrade is unfinished"))
	if got := b.last(); got.Phase != refitv1alpha1.BackupFailed || got.Error.Reason != node.RefusedBusy {
		t.Errorf("got %+v", got)
	}
}

func TestStoreThatDropsObjectsIsNoticed(t *testing.T) {
	b := newBed(t)
	b.Environment.OpenStore = func(spec *refitv1alpha1.BackupStoreSpec, keys store.Credentials) (store.Objects, error) {
		opened, err := store.Open(spec, keys)
		return forgetful{opened}, err
	}
	if got := b.take(t, 1); got.Phase != refitv1alpha1.BackupFailed || got.Error.Reason != "StoreCorrupt" {
		t.Errorf("got %+v", got.Error)
	}
}

// forgetful accepts objects and drops them.
type forgetful struct{ store.Objects }

func (forgetful) Put(_ context.Context, _ string, from io.Reader) error {
	_, err := io.Copy(io.Discard, from)
	return err
}

func TestOldBackupsAreDeletedAfterALaterOne(t *testing.T) {
	b := newBed(t)
	b.store.Spec.Keep = &refitv1alpha1.BackupRetention{Last: 1, Age: metav1.Duration{Duration: time.Nanosecond}}
	for attempt := range int64(3) {
		if got := b.take(t, attempt+1); got.Phase != refitv1alpha1.BackupSucceeded {
			t.Fatalf("got %+v", got.Error)
		}
	}
	for path := range b.stored(t) {
		if !strings.HasPrefix(path, "prod/"+backupUID+"/3/") {
			t.Errorf("%s is left", path)
		}
	}
}

// former returns the stored attempt as an EtcdBackup of its own, which cp-2 took.
func (b *bed) former(attempt int64, result refitv1alpha1.NodeBackupStatus) refitv1alpha1.EtcdBackup {
	out := refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "former", UID: b.request.UID}, Spec: b.request.Spec}
	out.Status.Node, out.Status.Attempt, out.Status.BackupResult = "cp-2", attempt, result.BackupResult
	return out
}

// A restore must not choose what retention has deleted.
func TestRetentionMarksTheBackupsThatItDeletes(t *testing.T) {
	for situation, test := range map[string]struct {
		node    string // that took the former backup
		bucket  bool
		denied  error
		deleted bool // the objects
		marked  bool
	}{
		"of this host":                     {"cp-2", false, nil, true, true},
		"of another host":                  {"cp-3", false, nil, false, false},
		"of another host in a bucket":      {"cp-3", true, nil, true, true},
		"the cluster cannot be written to": {"cp-2", false, errors.New("unreachable"), false, false},
	} {
		t.Run(situation, func(t *testing.T) {
			b, path := newBed(t), filepath.Join(t.TempDir(), "backups.json")
			b.Environment.Record = func(added backup.Records) error { return AddRecords(path, added) }
			b.request.Status.Node = "cp-2"
			former := b.former(1, b.take(t, 1))
			former.Status.Node, b.denied = test.node, test.denied
			b.others, b.store.Spec.Keep = []refitv1alpha1.EtcdBackup{former}, &refitv1alpha1.BackupRetention{Last: 1}
			if test.bucket {
				directory := b.store.Spec.Path.Directory
				b.store.Spec.Path, b.store.Spec.S3, b.store.Spec.Credentials = nil, &refitv1alpha1.S3Store{Endpoint: "https://s3.example.com", Bucket: "b"}, "offsite"
				b.pins.Locations = append(b.pins.Locations, etcdbackup.Location(&b.store.Spec))
				b.Environment.OpenStore = func(*refitv1alpha1.BackupStoreSpec, store.Credentials) (store.Objects, error) {
					return store.OpenPath(directory)
				}
			}
			if got := b.take(t, 2); got.Phase != refitv1alpha1.BackupSucceeded {
				t.Fatalf("got %+v", got.Error)
			}
			if deleted := !b.attempts(t)["1"]; deleted != test.deleted {
				t.Errorf("the objects are deleted: %t", deleted)
			}
			if marked := b.others[0].Status.Deleted != nil; marked != test.marked {
				t.Errorf("the EtcdBackup is marked: %t", marked)
			}
			records, err := ReadRecords(path)
			at := slices.IndexFunc(records.Backups, func(r backup.Record) bool { return r.Attempt == 1 })
			if err != nil || at < 0 || records.Backups[at].Deleted.IsZero() == test.marked {
				t.Errorf("recorded: %+v, %v", records.Backups, err)
			}
		})
	}
}

// A mark would delete the original, which may be the only other one.
func TestRetentionOfAReplicaLeavesTheOriginal(t *testing.T) {
	b := newBed(t)
	b.request.Status.Node = "cp-2"
	former := b.former(1, b.take(t, 1))
	original := b.store
	original.Name = "original"
	original.Spec.Path = &refitv1alpha1.PathStore{Directory: "/mnt/original"}
	former.Spec.Store, b.stores = original.Name, []refitv1alpha1.BackupStore{original}
	b.others, b.store.Spec.Keep = []refitv1alpha1.EtcdBackup{former}, &refitv1alpha1.BackupRetention{Last: 1}
	if got := b.take(t, 2); got.Phase != refitv1alpha1.BackupSucceeded {
		t.Fatalf("got %+v", got.Error)
	}
	if b.attempts(t)["1"] || b.others[0].Status.Deleted != nil {
		t.Errorf("left: %v; the EtcdBackup of the original is marked at %v", b.attempts(t), b.others[0].Status.Deleted)
	}
}

// A kill or an error after the mark leaves objects. The next backup deletes them, whatever the
// policy keeps by then; a copy on another host has its own place.
func TestObjectsOfAMarkedBackupAreDeleted(t *testing.T) {
	for situation, test := range map[string]struct {
		node    string // that took the former backup
		change  func(t *testing.T, b *bed)
		deleted bool
	}{
		"all of them are left":          {"cp-2", func(*testing.T, *bed) {}, true},
		"the manifest is gone":          {"cp-2", func(t *testing.T, b *bed) { t.Helper(); b.removeManifest(t) }, true},
		"a copy of one of another host": {"cp-3", func(*testing.T, *bed) {}, false},
	} {
		t.Run(situation, func(t *testing.T) {
			b := newBed(t)
			b.request.Status.Node = "cp-2"
			former := b.former(1, b.take(t, 1))
			former.Status.Node = test.node
			etcdbackup.MarkDeleted(&former, etcdbackup.ID(&former), time.Now())
			b.others, b.store.Spec.Keep = []refitv1alpha1.EtcdBackup{former}, &refitv1alpha1.BackupRetention{Last: 5}
			test.change(t, b)
			if got := b.take(t, 2); got.Phase != refitv1alpha1.BackupSucceeded {
				t.Fatalf("got %+v", got.Error)
			}
			if left := b.attempts(t); left["1"] == test.deleted || !left["2"] {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func (b *bed) removeManifest(t *testing.T) {
	t.Helper()
	manifests, err := filepath.Glob(filepath.Join(b.store.Spec.Path.Directory, "*", "*", "*", "manifest-*"))
	if err != nil || len(manifests) != 1 {
		t.Fatalf("%v, %v", manifests, err)
	}
	if err := os.Remove(manifests[0]); err != nil {
		t.Fatal(err)
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}
