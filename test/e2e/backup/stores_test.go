//go:build e2e

package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/refit-dev/refit/internal/engine/backup"
	format "github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/test/e2e/bed"
)

const (
	clusterUID = "11111111-2222-4333-8444-555555555555"
	backupUID  = "0a1b2c3d-0000-4000-8000-00000000000a"
	planted    = "planted-secret-of-the-cluster"
	mebibyte   = 1 << 20
)

// keyPair is a recipient with its identity.
type keyPair struct {
	recipient string
	identity  []age.Identity
}

func newKeyPair(t *testing.T) keyPair {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return keyPair{identity.Recipient().String(), []age.Identity{identity}}
}

// request returns a backup whose first part has a size. Each attempt has another content.
func (k keyPair) request(attempt, mebibytes int, at time.Time) backup.Request {
	return backup.Request{
		ID: format.ID{UID: backupUID, Attempt: attempt}, ClusterUID: clusterUID, Time: at, EtcdVersion: "3.6.6", Recipients: []string{k.recipient},
		Sources: []backup.Source{
			{Part: format.PartEtcd, Write: func(_ context.Context, to backup.Sink) error { return database(to, attempt, mebibytes) }},
			{Part: format.PartHost, Write: func(_ context.Context, to backup.Sink) error {
				_, err := fmt.Fprintf(to, "%s %d", planted, attempt)
				return err
			}},
		},
	}
}

// database writes bytes that do not compress, with a secret in each mebibyte.
func database(to io.Writer, seed, mebibytes int) error {
	random := rand.NewChaCha8([32]byte{byte(seed)})
	block := make([]byte, mebibyte)
	for range mebibytes {
		_, _ = random.Read(block)
		copy(block, planted)
		if _, err := to.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// eachStore runs a test on every kind of store, with its data in a directory.
func eachStore(t *testing.T, disk func(t *testing.T) string, test func(t *testing.T, s backup.Objects, data string)) {
	t.Helper()
	t.Run("MinIO", func(t *testing.T) {
		data := disk(t)
		test(t, openS3(t, bed.StartMinIO(t, loopback, data).Address, bed.SecretKey), data)
	})
	t.Run("GCS", func(t *testing.T) {
		data := disk(t)
		test(t, openGCS(t, bed.StartGCS(t, loopback, data).Address), data)
	})
	t.Run("Path", func(t *testing.T) {
		data := disk(t)
		test(t, openPath(t, data), data)
	})
}

func anyDisk(t *testing.T) string { t.Helper(); return t.TempDir() }

// TestBackupStores stores, lists, verifies and prunes backups that need several uploads each.
func TestBackupStores(t *testing.T) {
	eachStore(t, anyDisk, func(t *testing.T, s backup.Objects, data string) {
		t.Helper()
		at, k, now := backup.Target{Store: s, Prefix: "prod/eu"}, newKeyPair(t), time.Now()
		var last backup.Stored
		for attempt := 1; attempt <= 3; attempt++ {
			start := time.Now()
			stored, err := backup.Store(t.Context(), at, k.request(attempt, 40, now.Add(time.Duration(attempt-4)*time.Hour)))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("attempt %d: %d bytes in %s", attempt, stored.Manifest.StoredSize(), time.Since(start).Round(time.Millisecond))
			last = stored
		}
		expected := format.Expected{ID: last.Manifest.ID(), ClusterUID: clusterUID, ManifestDigest: last.Digest}
		for situation, identity := range map[string][]age.Identity{"without identity": nil, "with an identity": k.identity} {
			if _, err := backup.Verify(t.Context(), at, expected, identity); err != nil {
				t.Errorf("%s: %v", situation, err)
			}
		}
		requireStates(t, at, format.Complete, format.Complete, format.Complete)
		requireCiphertext(t, s, data)

		var marked []format.ID
		mark := func(_ context.Context, id format.ID) error {
			marked = append(marked, id)
			return nil
		}
		deleted, _, err := backup.Prune(t.Context(), at, now, format.Retention{ClusterUID: clusterUID, Keep: format.Keep{Last: 2}}, mark)
		if err != nil || len(deleted) != 1 || deleted[0].Attempt != 1 || !slices.Equal(marked, deleted) {
			t.Errorf("deleted %v, marked %v, %v", deleted, marked, err)
		}
		requireStates(t, at, format.Complete, format.Complete)
		if _, err := backup.Verify(t.Context(), at, format.Expected{ID: format.ID{UID: backupUID, Attempt: 1}}, nil); !errors.Is(err, format.ErrIncomplete) {
			t.Errorf("the deleted backup: %v", err)
		}
	})
}

// requireStates requires the states of all attempts in a store.
func requireStates(t *testing.T, at backup.Target, want ...format.State) {
	t.Helper()
	all, err := backup.List(t.Context(), at)
	if err != nil {
		t.Error(err)
	}
	var got []format.State
	for _, l := range all {
		got = append(got, l.State)
	}
	if !slices.Equal(got, want) {
		t.Errorf("states %v, want %v", got, want)
	}
}

// requireCiphertext searches for the planted secret in all objects and in all files of the server.
func requireCiphertext(t *testing.T, s backup.Objects, data string) {
	t.Helper()
	objects, err := s.List(t.Context(), "")
	if err != nil || len(objects) == 0 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	for _, object := range objects {
		body, err := s.Get(t.Context(), object.Key)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(body)
		if err := errors.Join(err, body.Close()); err != nil || bytes.Contains(content, []byte(planted)) {
			t.Errorf("%s contains plain text, or cannot be read: %v", object.Key, err)
		}
	}
	files := 0
	err = filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(planted)) {
			t.Errorf("%s contains plain text", path)
		}
		return err
	})
	if err != nil || files < len(objects) {
		t.Errorf("searched %d files of %d objects, %v", files, len(objects), err)
	}
}
