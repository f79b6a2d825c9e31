package etcd

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
)

func TestSnapshotHasWhatEtcdutlReads(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 1)
	c := s.on(0)
	for i := range 200 {
		_, err := c.local.Put(t.Context(), fmt.Sprintf("/registry/configmaps/%d", i%50), "value")
		must(t, err)
	}
	_, err := c.local.Delete(t.Context(), "/registry/configmaps/7")
	must(t, err)
	stream, err := c.Snapshot(t.Context())
	must(t, err)
	path := filepath.Join(t.TempDir(), "etcd.db")
	file, err := os.Create(path)
	must(t, err)
	_, err = io.Copy(file, stream)
	must(t, err)
	must(t, stream.Close())
	must(t, file.Close())

	got, err := ReadSnapshot(t.Context(), path)
	must(t, err)
	out, err := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(etcdBinary(t, "3.6.8")), "etcdutl"), "snapshot", "status", "-w", "json", path).Output()
	must(t, err)
	var want struct {
		Hash     uint32 `json:"hash"`
		Revision int64  `json:"revision"`
	}
	must(t, json.Unmarshal(out, &want))
	if got.Hash != want.Hash || got.Revision != want.Revision || got.Revision != 202 || got.Keys != 201 {
		t.Errorf("got %+v, etcdutl reads %+v", got, want)
	}
	requireRestored(t, path, got)
}

func TestCanceledSnapshotEnds(t *testing.T) {
	t.Parallel()
	c := start(t, "3.6.8", 1).on(0)
	for i := range 8 { // more than gRPC buffers
		_, err := c.local.Put(t.Context(), fmt.Sprintf("/registry/secrets/%d", i), string(make([]byte, 1<<20)))
		must(t, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := c.Snapshot(ctx)
	must(t, err)
	_, err = io.ReadFull(stream, make([]byte, 100))
	must(t, err)
	cancel()
	if _, err := io.Copy(io.Discard, stream); grpcstatus.Code(err) != codes.Canceled {
		t.Errorf("got %v", err)
	}
}

// requireRestored requires that a restored database has the entries of its snapshot.
func requireRestored(t *testing.T, snapshot string, want SnapshotContent) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	etcdutl := filepath.Join(filepath.Dir(etcdBinary(t, "3.6.8")), "etcdutl")
	out, err := exec.CommandContext(t.Context(), etcdutl, "snapshot", "restore", snapshot, "--data-dir="+dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := ReadDatabase(t.Context(), filepath.Join(dir, "member/snap/db"))
	must(t, err)
	if got.Revision != want.Revision || got.Keys != want.Keys || got.EntriesHash != want.EntriesHash || got.EntriesHash == 0 {
		t.Errorf("restored: %+v, the snapshot has %+v", got, want)
	}
}

func TestChangedSnapshotIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 1)
	stream, err := s.on(0).Snapshot(t.Context())
	must(t, err)
	content, err := io.ReadAll(stream)
	must(t, err)
	for situation, change := range map[string]func([]byte) []byte{
		"truncated":    func(text []byte) []byte { return text[:len(text)-512] },
		"a bit":        func(text []byte) []byte { text[len(text)/2] ^= 1; return text },
		"empty":        func([]byte) []byte { return nil },
		"without hash": func(text []byte) []byte { return text[:len(text)-32] },
	} {
		path := filepath.Join(t.TempDir(), "etcd.db")
		must(t, os.WriteFile(path, change(append([]byte(nil), content...)), 0o600))
		if _, err := ReadSnapshot(t.Context(), path); err == nil {
			t.Errorf("%s: it is accepted", situation)
		}
	}
}

func TestReadOfASnapshotEndsWithItsContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "etcd.db")
	db, err := bbolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucket([]byte("key"))
		if err != nil {
			return err
		}
		return bucket.Put([]byte("00000001_00000000"), []byte("value"))
	}))
	must(t, db.Close())
	database, err := os.ReadFile(path)
	must(t, err)
	sum := sha256.Sum256(database)
	must(t, os.WriteFile(path, append(database, sum[:]...), 0o600))
	_, err = ReadSnapshot(t.Context(), path)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, read := range map[string]func(context.Context, string) (SnapshotContent, error){"snapshot": ReadSnapshot, "database": ReadDatabase} {
		if _, err := read(ctx, path); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A snapshot whose pages are damaged has a valid digest if etcd itself streams them.
func TestDamagedDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "etcd.db")
	db, err := bbolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucket([]byte("key"))
		for i := range 2000 {
			if err == nil {
				err = bucket.Put(fmt.Appendf(nil, "%08d_%08d", i, 0), make([]byte, 100))
			}
		}
		return err
	}))
	must(t, db.Close())
	good, err := os.ReadFile(path)
	must(t, err)
	refused := 0
	for page := 2; page < len(good)/os.Getpagesize(); page++ {
		damaged := slices.Clone(good)
		for i := range 64 {
			damaged[page*os.Getpagesize()+i] = 0xff
		}
		sum := sha256.Sum256(damaged)
		must(t, os.WriteFile(path, append(damaged, sum[:]...), 0o600))
		if _, err := ReadSnapshot(t.Context(), path); err != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no damaged page was noticed")
	}
}
