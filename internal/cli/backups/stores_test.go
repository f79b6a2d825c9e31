package backups

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

const (
	clusterUID = "11111111-2222-4333-8444-555555555555"
	nightlyUID = "0a1b2c3d-0000-4000-8000-00000000000a"
	earlierUID = "0a1b2c3d-0000-4000-8000-00000000000b"
)

var testNow = time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC)

// bed is a cluster with backups in a directory.
type bed struct {
	dir        string
	store      *refitv1alpha1.BackupStore
	others     []refitv1alpha1.BackupStore
	backups    map[string]*refitv1alpha1.EtcdBackup
	operations []refitv1alpha1.ClusterUpgrade
	secrets    map[string]*corev1.Secret
	clusterUID string
	denied     error // of ProveIdentity and MarkDeleted
	forbidden  error // of MayMarkDeleted
	identity   *age.X25519Identity
}

// newBed returns a bed with the backups "earlier" and "nightly".
func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{dir: t.TempDir(), backups: map[string]*refitv1alpha1.EtcdBackup{}, clusterUID: clusterUID, identity: newIdentity(t)}
	b.store = &refitv1alpha1.BackupStore{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Spec: refitv1alpha1.BackupStoreSpec{
		Path: &refitv1alpha1.PathStore{Directory: "/var/lib/refit-backups"}, Prefix: "prod", Recipients: []string{b.identity.Recipient().String()},
	}}
	b.take(t, "earlier", earlierUID, testNow.Add(-24*time.Hour))
	b.take(t, "nightly", nightlyUID, testNow)
	return b
}

func newIdentity(t *testing.T) *age.X25519Identity {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

func (b *bed) target(t *testing.T) enginebackup.Target {
	t.Helper()
	opened, err := store.OpenPath(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	return enginebackup.Target{Store: opened, Prefix: b.store.Spec.Prefix}
}

// take stores a backup and its EtcdBackup, as the agent of cp-2 would.
func (b *bed) take(t *testing.T, name, uid string, at time.Time) {
	t.Helper()
	write := func(text string) func(context.Context, enginebackup.Sink) error {
		return func(_ context.Context, to enginebackup.Sink) error {
			_, err := io.WriteString(to, text)
			return err
		}
	}
	snapshot := strings.Repeat(name, 1000)
	stored, err := enginebackup.Store(t.Context(), b.target(t), enginebackup.Request{
		ID: backup.ID{UID: uid, Attempt: 1}, ClusterUID: clusterUID, Time: at, EtcdVersion: "3.6.6", Revision: func() int64 { return 41 },
		Recipients: b.store.Spec.Recipients, Sources: []enginebackup.Source{
			{Part: backup.PartEtcd, Write: write(snapshot)}, {Part: backup.PartHost, Write: write("files of " + name)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	taken := &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid)}, Spec: refitv1alpha1.EtcdBackupSpec{Store: b.store.Name}}
	when := metav1.NewTime(at)
	taken.Status.Node, taken.Status.Attempt, taken.Status.ReadBack, taken.Status.Digest = "cp-2", 1, &when, stored.Digest
	taken.Status.Revision, taken.Status.Size = 41, int64(len(snapshot))-32
	taken.Status.Object = backup.Key(b.store.Spec.Prefix, stored.Manifest.ID(), backup.ManifestName(stored.Digest))
	b.backups[name] = taken
}

// path returns the file of an object.
func (b *bed) path(uid, name string) string { return filepath.Join(b.dir, "prod", uid, "1", name) }

// manifest returns the file of the manifest of a backup.
func (b *bed) manifest(name string) string {
	return filepath.Join(b.dir, b.backups[name].Status.Object)
}

// rewrite changes a file of the store.
func rewrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (b *bed) EtcdBackup(_ context.Context, name string) (*refitv1alpha1.EtcdBackup, error) {
	if found := b.backups[name]; found != nil {
		return found.DeepCopy(), nil
	}
	return nil, errors.New("there is no EtcdBackup " + name)
}

func (b *bed) Backups(context.Context) ([]refitv1alpha1.EtcdBackup, error) {
	var out []refitv1alpha1.EtcdBackup
	for _, each := range b.backups {
		out = append(out, *each)
	}
	return out, nil
}

func (b *bed) List(context.Context) ([]refitv1alpha1.ClusterUpgrade, error) {
	return b.operations, nil
}

func (b *bed) BackupStore(context.Context, string) (*refitv1alpha1.BackupStore, error) {
	return b.store.DeepCopy(), nil
}

func (b *bed) BackupStores(context.Context) ([]refitv1alpha1.BackupStore, error) {
	return append(b.others, *b.store), nil
}

func (b *bed) BackupSecret(_ context.Context, name string) (*corev1.Secret, error) {
	if found := b.secrets[name]; found != nil {
		return found, nil
	}
	return nil, errors.New("there is no Secret " + name)
}

func (b *bed) ProveIdentity(_ context.Context, _, name string, recipients []string) (bool, error) {
	if b.denied != nil {
		return false, b.denied
	}
	return backup.Prove(b.store, name, recipients, testNow), nil
}

func (b *bed) MayMarkDeleted(context.Context) error { return b.forbidden }

func (b *bed) MarkDeleted(_ context.Context, name string, id backup.ID) error {
	if b.denied != nil {
		return b.denied
	}
	etcdbackup.MarkDeleted(b.backups[name], id, testNow)
	return nil
}

func (b *bed) ClusterUID(context.Context) (string, error) { return b.clusterUID, nil }
