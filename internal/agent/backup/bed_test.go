package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"
	"go.etcd.io/bbolt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

const (
	clusterUID = "11111111-2222-4333-8444-555555555555"
	backupUID  = "0a1b2c3d-0000-4000-8000-00000000000a"
	machineID  = "0123456789abcdef0123456789abcdef"
	secretText = "the-password-of-every-database"
)

// bed is a host with a store in a directory, and a cluster that has the objects of a backup.
type bed struct {
	*Manager
	directory string // of the store
	identity  *age.X25519Identity
	request   refitv1alpha1.EtcdBackup
	store     refitv1alpha1.BackupStore
	pins      etcdbackup.Pins
	facts     refitv1alpha1.EtcdFacts
	space     host.FreeSpace
	mounted   bool // the store has a file system of its own
	snapshot  []byte
	keys      store.Credentials
	others    []refitv1alpha1.EtcdBackup
	stores    []refitv1alpha1.BackupStore // besides store
	upgrades  []refitv1alpha1.ClusterUpgrade
	trials    fakeTrials
	denied    error // of MarkDeleted

	mu       sync.Mutex
	reported []refitv1alpha1.NodeBackupStatus
}

func newBed(tb testing.TB) *bed {
	tb.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		tb.Fatal(err)
	}
	b := &bed{directory: tb.TempDir(), mounted: true, identity: identity, space: host.FreeSpace{Bytes: 1 << 40, Total: 2 << 40}, snapshot: testSnapshot(tb)}
	b.request = refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", UID: backupUID}, Spec: refitv1alpha1.EtcdBackupSpec{Store: "local"}}
	b.store = refitv1alpha1.BackupStore{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Spec: refitv1alpha1.BackupStoreSpec{
		Path: &refitv1alpha1.PathStore{Directory: b.directory}, Prefix: "prod", Recipients: []string{identity.Recipient().String()},
	}}
	b.pins = etcdbackup.Pins{Recipients: b.store.Spec.Recipients, Locations: []string{b.directory}}
	b.facts = refitv1alpha1.EtcdFacts{Name: "cp-2", Healthy: true, Members: []string{"cp-1", "cp-2", "cp-3"}}
	b.Manager = b.manager(tb.TempDir())
	return b
}

// manager is the manager of an agent that starts with a state directory.
func (b *bed) manager(dir string) *Manager {
	return &Manager{
		Dir: dir, Machine: machineID, Boot: "boot", Log: slog.New(slog.DiscardHandler), Report: b.record,
		Environment: Environment{
			Objects: b, Pins: func() (etcdbackup.Pins, error) { return b.pins, nil }, Dial: func(context.Context) (Member, error) { return fakeMember{b}, nil },
			OpenStore: store.Open, Space: b.free,
			HostFiles: func(to io.Writer) error { _, err := io.WriteString(to, secretText); return err },
			EtcdImage: func(_ context.Context, version string) (string, error) {
				return "registry.k8s.io/etcd:" + version + "-0", nil
			},
			Hops: b.trials.render, Unpin: b.trials.unpin, Runner: b.trials.connect, Leftovers: func() bool { return b.trials.units > 0 },
		},
	}
}

// free is the disk space of a directory.
func (b *bed) free(dir string) (host.FreeSpace, error) {
	space := b.space
	if b.mounted && dir == b.directory {
		space.Device++
	}
	return space, nil
}

func (b *bed) record(status *refitv1alpha1.NodeBackupStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reported = append(b.reported, *status)
}

func (b *bed) last() refitv1alpha1.NodeBackupStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reported[len(b.reported)-1]
}

func (b *bed) ref(attempt int64) refitv1alpha1.BackupRef {
	return refitv1alpha1.BackupRef{Name: b.request.Name, UID: b.request.UID, Attempt: attempt, Store: b.store.Name}
}

// take takes an attempt and returns its result.
func (b *bed) take(tb testing.TB, attempt int64) refitv1alpha1.NodeBackupStatus {
	tb.Helper()
	opened, err := b.Open(b.ref(attempt))
	if err != nil {
		tb.Fatal(err)
	}
	b.Run(tb.Context(), opened)
	b.Wait()
	return b.last()
}

// stored returns the files of the store, by path.
func (b *bed) stored(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(b.directory, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, b.directory+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (b *bed) EtcdBackup(context.Context, string) (*refitv1alpha1.EtcdBackup, error) {
	return &b.request, nil
}

func (b *bed) EtcdBackups(context.Context) ([]refitv1alpha1.EtcdBackup, error) {
	return append(slices.Clone(b.others), b.request), nil
}

func (b *bed) ClusterUpgrades(context.Context) ([]refitv1alpha1.ClusterUpgrade, error) {
	return b.upgrades, nil
}

func (b *bed) BackupStore(context.Context, string) (*refitv1alpha1.BackupStore, error) {
	return &b.store, nil
}

func (b *bed) BackupStores(context.Context) ([]refitv1alpha1.BackupStore, error) {
	return append(slices.Clone(b.stores), b.store), nil
}

func (b *bed) Credentials(context.Context, string) (store.Credentials, error) { return b.keys, nil }

func (b *bed) MarkDeleted(_ context.Context, name string, id backup.ID, now time.Time) error {
	for i := range b.others {
		if b.others[i].Name == name && b.denied == nil {
			etcdbackup.MarkDeleted(&b.others[i], id, now)
		}
	}
	return b.denied
}

func (b *bed) ClusterUID(context.Context) (string, error) { return clusterUID, nil }

type fakeMember struct{ bed *bed }

func (m fakeMember) Facts(context.Context) (*refitv1alpha1.EtcdFacts, error) {
	return &m.bed.facts, nil
}

func (m fakeMember) Local(context.Context) (etcd.Member, error) {
	return etcd.Member{Version: "3.6.8", DBSize: int64(len(m.bed.snapshot))}, nil
}

func (m fakeMember) Snapshot(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(m.bed.snapshot)), nil
}

func (fakeMember) Close() error { return nil }

// testSnapshot is a snapshot with three revisions, as etcd streams it.
func testSnapshot(tb testing.TB) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		tb.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucket([]byte("key"))
		for revision := uint64(1); err == nil && revision <= 3; revision++ {
			err = bucket.Put(append(binary.BigEndian.AppendUint64(nil, revision), append([]byte("_"), make([]byte, 8)...)...), []byte(secretText))
		}
		return err
	})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return withDigest(content)
}

// withDigest returns a database and its digest, as etcd streams them.
func withDigest(database []byte) []byte {
	sum := sha256.Sum256(database)
	return append(database, sum[:]...)
}
