package restore

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// A command of an earlier restore does not report its success again.
func TestCompleteRunIsNotRepeated(t *testing.T) {
	b := newBed(t, "cp-1")
	m := b.hosts["cp-1"]
	p, _, err := m.restore(t, Request{}, "")
	must(t, err)
	b.running["cp-1"] = "broken"
	must(t, os.WriteFile(m.path("etcd", "member", "data"), []byte("broken"), 0o600))
	if _, _, err := m.restore(t, Request{Run: p.Restore.Plan.Run}, ""); err == nil {
		t.Errorf("a restore is reported, and etcd has the data %q", b.running["cp-1"])
	}
}

// The snapshot has every Secret of the cluster.
func TestNothingDecryptedIsLeftBehind(t *testing.T) {
	t.Run("by an error after it was fetched", func(t *testing.T) {
		m := newBed(t, "cp-1").hosts["cp-1"]
		must(t, os.Remove(m.path("manifests", "etcd.yaml")))
		if _, _, err := m.restore(t, Request{}, ""); err == nil {
			t.Fatal("a host without a manifest of etcd was restored")
		}
		if runs, _ := os.ReadDir(m.path("restores")); len(runs) > 0 {
			t.Errorf("%v is left", runs)
		}
	})
	t.Run("by a command that was killed", func(t *testing.T) {
		m := newBed(t, "cp-1").hosts["cp-1"]
		killed := m.site().Snapshot(restore.NewRun(now.Add(-1e9)))
		must(t, os.MkdirAll(m.site().RunDir(restore.NewRun(now.Add(-1e9))), 0o700))
		must(t, os.WriteFile(killed, []byte("decrypted"), 0o600))
		_, _, err := m.restore(t, Request{}, "")
		must(t, err)
		if exists(killed) {
			t.Error("the snapshot of an earlier command is left")
		}
	})
}

// A snapshot that cannot be restored costs no second of the control plane.
func TestNothingStopsBeforeTheDataIsRestored(t *testing.T) {
	m := newBed(t, "cp-1").hosts["cp-1"]
	m.etcdutl = errors.New("unknown flag: --bump-revision")
	if _, _, err := m.restore(t, Request{}, ""); !errors.Is(err, m.etcdutl) {
		t.Fatal(err)
	}
	if !m.has("etcd") || !m.has("kube-apiserver") {
		t.Errorf("etcd has a manifest: %t, the API server: %t", m.has("etcd"), m.has("kube-apiserver"))
	}
}

// Something else can move the manifests back while a restore is interrupted.
func TestDataMovesOnlyWhileNothingUsesIt(t *testing.T) {
	b := newBed(t, "cp-1")
	m := b.hosts["cp-1"]
	p, died, err := m.restore(t, Request{}, "restore-move-data/started")
	if err != nil || !died {
		t.Fatalf("%t %v", died, err)
	}
	for _, component := range []string{"etcd", "kube-apiserver"} {
		text, err := os.ReadFile(p.Restore.parked(component))
		must(t, err)
		must(t, os.WriteFile(p.Restore.live(component), text, 0o600))
	}
	b.running["cp-1"] = "broken"
	_, _, err = m.restore(t, Request{}, "")
	must(t, err)
	b.serves(t, p.Restore.Plan.Run)
}

func TestEtcdThatTheKubeletWasJustRestartingIsStopped(t *testing.T) {
	b := newBed(t, "cp-1")
	m := b.hosts["cp-1"]
	m.revives = true
	_, _, err := m.restore(t, Request{}, "")
	must(t, err)
	if m.violation != "" || b.running["cp-1"] == "revived" {
		t.Errorf("%s; etcd has the data %q", m.violation, b.running["cp-1"])
	}
}

func TestDataDirectoryThatIsAFileIsMovedAside(t *testing.T) {
	for _, situation := range []restore.Situation{restore.Single, restore.Replace} {
		b := newBed(t, "cp-1")
		if situation == restore.Replace {
			b = newBed(t, "cp-1", "cp-2", "cp-3")
			b.running["cp-2"], b.running["cp-3"] = "live", "live"
		}
		m := b.hosts["cp-1"]
		must(t, os.RemoveAll(m.path("etcd", "member")))
		must(t, os.WriteFile(m.path("etcd", "member"), []byte("no directory"), 0o600))
		delete(b.running, "cp-1")
		p, _, err := m.restore(t, Request{}, "")
		must(t, err)
		if text, err := os.ReadFile(p.Restore.OldData()); p.Decision.Situation != situation || string(text) != "no directory" {
			t.Errorf("%s: the file is not moved aside: %v", p.Decision.Situation, err)
		}
	}
}

// A damaged file system must not look like an etcd that runs.
func TestADamagedDirectoryHasNoLock(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "snap"), nil, 0o600))
	must(t, unlocked(filepath.Join(dir, "snap", "db")))
}

func TestDataThatAProcessHasLockedDoesNotMove(t *testing.T) {
	m := newBed(t, "cp-1").hosts["cp-1"]
	must(t, os.MkdirAll(m.path("etcd", "member", "snap"), 0o700))
	database, err := os.Create(m.path("etcd", "member", "snap", "db"))
	must(t, err)
	must(t, unix.Flock(int(database.Fd()), unix.LOCK_EX))
	_, _, err = m.restore(t, Request{}, "")
	if f, ok := errors.AsType[*node.Failure](err); !ok || f.Reason != "EtcdRuns" || !exists(m.path("etcd", "member", "snap", "db")) {
		t.Fatalf("got %v", err)
	}
	must(t, database.Close())
	_, _, err = m.restore(t, Request{}, "")
	must(t, err)
}

func TestIdentityIsNotNeededAfterTheDataIsRestored(t *testing.T) {
	b := newBed(t, "cp-1")
	m := b.hosts["cp-1"]
	p, died, err := m.restore(t, Request{}, "restore-finish/removed")
	if err != nil || !died {
		t.Fatalf("%t %v", died, err)
	}
	m.withoutIdentity = true
	_, _, err = m.restore(t, Request{}, "")
	must(t, err)
	b.serves(t, p.Restore.Plan.Run)
}

func TestOpenRestoreDoesNotContinueAsAnotherBackup(t *testing.T) {
	m := newBed(t, "cp-1").hosts["cp-1"]
	if _, died, err := m.restore(t, Request{}, "restore-move-data/aside"); err != nil || !died {
		t.Fatalf("%t %v", died, err)
	}
	for name, request := range map[string]Request{"by name": {Backup: "older"}, "by digest": {Backup: "nightly", Digest: "sha256:other"}} {
		if _, _, err := m.restore(t, request, ""); err == nil {
			t.Errorf("%s: another backup than the requested one was restored", name)
		}
	}
}

// The default store is a directory of each host.
func TestBackupOfAnotherHostIsNamed(t *testing.T) {
	b := newBed(t, "cp-1")
	must(t, os.RemoveAll(filepath.Join(b.dir, backupUID)))
	path := &refitv1alpha1.PathStore{Directory: "/mnt/backups"}
	_, _, err := b.hosts["cp-1"].restore(t, Request{Store: &refitv1alpha1.BackupStoreSpec{Path: path}}, "")
	if err == nil || !strings.Contains(err.Error(), "copy /mnt/backups/"+backupUID+" from it") {
		t.Errorf("got %v", err)
	}
}

// Renaming fails for a mount point, and a symlink would lead the restored data elsewhere.
func TestDataBehindASymlinkIsRefused(t *testing.T) {
	m := newBed(t, "cp-1").hosts["cp-1"]
	must(t, os.Symlink(t.TempDir(), m.path("etcd", "member", "wal")))
	if _, _, err := m.restore(t, Request{}, ""); err == nil || err.Error() != "SeparateWAL" {
		t.Error(err)
	}
}

func TestWaitsReportWhatTheyWaitFor(t *testing.T) {
	m := newBed(t, "cp-1").hosts["cp-1"]
	m.unready = 4
	_, _, err := m.restore(t, Request{}, "")
	must(t, err)
	if !slices.ContainsFunc(m.progress, func(line string) bool { return strings.Contains(line, "it is not ready") }) {
		t.Errorf("%q", m.progress)
	}
}

// Until something is stopped, members may come back.
func TestRestoreDoesNotContinueAfterEtcdServesAgain(t *testing.T) {
	b := newBed(t, "cp-1")
	m := b.hosts["cp-1"]
	if _, died, err := m.restore(t, Request{}, "restore-restore-data/effective"); err != nil || !died {
		t.Fatalf("%t %v", died, err)
	}
	b.running["cp-1"] = "live"
	if _, _, err := m.restore(t, Request{}, ""); err == nil || !m.has("etcd") {
		t.Errorf("live data was replaced without a waiver: %v", err)
	}
	if _, _, err := m.restore(t, Request{Waived: []string{restore.EtcdServes}}, ""); err != nil {
		t.Error(err)
	}
}
