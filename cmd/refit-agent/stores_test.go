package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/internal/agent/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

const pinnedStores = "recipients: [age1x]\nlocations: [" + etcdbackup.LocalDirectory + "]\n"

// withStores has the pins of backups, as the ConfigMap of `refit install` has them.
func withStores(t *testing.T, stores, key string) *bundle {
	t.Helper()
	b := newTestBundle(t, "binary 1", "{}", key)
	dir := t.TempDir()
	if stores != "" {
		fakeHost{}.write(t, filepath.Join(dir, "stores.yaml"), stores)
	}
	if err := b.addStoresOf(dir); err != nil {
		t.Fatal(err)
	}
	return b
}

// hostFile writes a file that only root can read, and its directory.
func hostFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPinsOfBackupsAreForControlPlaneHosts(t *testing.T) {
	s, service, _ := newSite(t)
	key := newPublicKey(t)
	pins, dir := s.path(backup.PinsFile), s.path(etcdbackup.LocalDirectory)
	if _, err := place(t, s, withStores(t, pinnedStores, key)); err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Dir(pins)) || exists(dir) {
		t.Error("a worker has pins or a directory of backups")
	}
	hostFile(t, s.path(apiServerManifest), "kind: Pod\n")
	service.calls = nil
	if _, err := place(t, s, withStores(t, pinnedStores, key)); err != nil {
		t.Fatal(err)
	}
	wantCalls(t, service, "start") // the agent reads pins whenever it needs them
	got, err := backup.ReadPins(pins)
	info, statErr := os.Stat(dir)
	if err != nil || statErr != nil || len(got.Recipients) != 1 || !info.IsDir() || info.Mode().Perm() != 0o700 {
		t.Errorf("pins %+v, %v; directory %v, %v", got, err, info, statErr)
	}
	hostFile(t, pins, "recipients: [age1manual]\nlocations: []\n")
	if got, err = backup.ReadPins(pins); err != nil || len(got.Recipients) != 2 {
		t.Errorf("with manual pins: %+v, %v", got, err)
	}
	if out, err := place(t, s, withStores(t, pinnedStores, key)); err != nil || out != "The agent is up to date\n" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := place(t, s, withStores(t, "", key)); err != nil {
		t.Fatal(err)
	}
	if got, err = backup.ReadPins(pins); err != nil || len(got.Recipients) != 1 || got.Recipients[0] != "age1manual" || !exists(dir) {
		t.Errorf("after the pins were removed from the cluster: %+v, %v", got, err)
	}
}

func TestInvalidPinsAreNotPlaced(t *testing.T) {
	dir := t.TempDir()
	fakeHost{}.write(t, filepath.Join(dir, "stores.yaml"), "recipient: age1x\n")
	if err := (&bundle{}).addStoresOf(dir); err == nil {
		t.Error("a field that does not exist is accepted")
	}
}

// A removal leaves the backups.
func TestBackupsOutliveTheAgent(t *testing.T) {
	s, _, _ := newSite(t)
	hostFile(t, s.path(apiServerManifest), "kind: Pod\n")
	if _, err := place(t, s, withStores(t, pinnedStores, newPublicKey(t))); err != nil {
		t.Fatal(err)
	}
	stored := filepath.Join(s.path(etcdbackup.LocalDirectory), "uid", "1", "etcd.db.zst.age")
	hostFile(t, stored, "x")
	if err := (&app{out: os.Stderr}).doRemove(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if !exists(stored) || exists(s.path(backup.PinsFile)) {
		t.Error("the backups are gone, or the pins are not")
	}
}
