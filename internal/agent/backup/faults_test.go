package backup

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/backup/store"
)

func TestPanicFailsOnlyTheAttempt(t *testing.T) {
	b := newBed(t)
	b.Environment.HostFiles = func(io.Writer) error { panic("page 7 already freed") }
	got := b.take(t, 1)
	if got.Phase != refitv1alpha1.BackupFailed || got.Error == nil || got.Error.Reason != "BackupPanicked" {
		t.Fatalf("got %+v, error %+v", got, got.Error)
	}
	if left, _ := filepath.Glob(filepath.Join(b.Dir, "*", "etcd.db")); len(left) > 0 {
		t.Errorf("the copy of the database is left: %v", left)
	}
}

// panicking is a store with a bug in the goroutine of the upload.
type panicking struct{ store.Objects }

func (panicking) Put(context.Context, string, io.Reader) error { panic("a bug") }

func TestPanicOfTheStoreFailsOnlyTheAttempt(t *testing.T) {
	b := newBed(t)
	b.Environment.OpenStore = func(spec *refitv1alpha1.BackupStoreSpec, keys store.Credentials) (store.Objects, error) {
		opened, err := store.Open(spec, keys)
		return panicking{opened}, err
	}
	if got := b.take(t, 1); got.Phase != refitv1alpha1.BackupFailed || got.Error == nil || got.Error.Reason != "BackupPanicked" {
		t.Fatalf("got %+v, error %+v", got, got.Error)
	}
}

// One slot that cannot be read does not keep the copies of the database of others on the disk.
func TestUnreadableSlotIsRepaired(t *testing.T) {
	b := newBed(t)
	const other = "00000000-0000-4000-8000-00000000000b"
	for _, slot := range []string{other + "-2", backupUID + "-1"} {
		dir := filepath.Join(b.Dir, slot)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"journal": "damaged", "etcd.db": secretText} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.Dir, "*", "etcd.db")); len(left) > 0 {
		t.Errorf("copies of the database are left: %v", left)
	}
	if got := b.last(); got.Phase != refitv1alpha1.BackupFailed || got.Error.Reason != "JournalUnreadable" || got.UID != backupUID || got.Attempt != 1 {
		t.Errorf("got %+v, error %+v", got, got.Error)
	}
	if again, err := b.Open(b.ref(1)); again != nil || err != nil {
		t.Errorf("the same attempt starts again: %v", err)
	}
}

func TestDiskSpaceOfTheKubeletStaysFree(t *testing.T) {
	b := newBed(t)
	b.space.Total = 100 << 30
	b.space.Bytes = 15<<30 + uint64(len(b.snapshot)) - 1
	if got := b.take(t, 1); got.Error == nil || got.Error.Reason != "DiskFull" {
		t.Errorf("got %+v", got)
	}
	b.space.Bytes++
	if got := b.take(t, 2); got.Phase != refitv1alpha1.BackupSucceeded {
		t.Errorf("got %+v", got.Error)
	}
}

func TestStoreOnTheDiskOfTheHostNeedsDiskSpace(t *testing.T) {
	b := newBed(t)
	b.mounted = false
	b.space.Total = 100 << 30
	b.space.Bytes = 15<<30 + 2*uint64(len(b.snapshot)) - 1
	if got := b.take(t, 1); got.Error == nil || got.Error.Reason != "DiskFull" {
		t.Errorf("got %+v", got)
	}
	b.space.Bytes++
	if got := b.take(t, 2); got.Phase != refitv1alpha1.BackupSucceeded {
		t.Errorf("got %+v", got.Error)
	}
}
