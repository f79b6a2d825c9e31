package restore

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// interrupted is a restore that died before it moved the data, and whose restored data was deleted
// since.
func interrupted(t *testing.T, lost bool) (*bed, *machine, *Restore) {
	t.Helper()
	b := newBed(t, "cp-1")
	m := b.hosts["cp-1"]
	if lost {
		must(t, os.RemoveAll(m.path("etcd", "member")))
	}
	p, died, err := m.restore(t, Request{}, "restore-"+restore.MoveData+"/started")
	if err != nil || !died {
		t.Fatalf("%t %v", died, err)
	}
	must(t, os.RemoveAll(p.Restore.beside("new")))
	return b, m, p.Restore
}

func TestRestoredDataThatWasDeletedIsRestoredAgain(t *testing.T) {
	b, m, r := interrupted(t, false)
	_, _, err := m.restore(t, Request{}, "")
	must(t, err)
	b.serves(t, r.Plan.Run)

	b, m, r = interrupted(t, true)
	_, _, err = m.restore(t, Request{}, "")
	must(t, err)
	if data := b.running["cp-1"]; !strings.Contains(data, r.Plan.Run.Token()) || exists(r.marked(r.member())) {
		t.Errorf("lost data: etcd has %q", data)
	}
}

func TestOldDataIsNotTakenForTheRestoredData(t *testing.T) {
	_, m, r := interrupted(t, false)
	must(t, os.Remove(m.site().Snapshot(r.Plan.Run)))
	_, _, err := m.restore(t, Request{}, "")
	if f, ok := errors.AsType[*node.Failure](err); !ok || f.Reason != "DataLost" || !strings.Contains(f.Remedy, "refit-agent restore --cancel --yes") {
		t.Fatalf("got %v", err)
	}
	m.cancel(t, "")
	if data, err := os.ReadFile(m.path("etcd", "member", "data")); err != nil || string(data) != "broken" || !m.has("etcd") || !m.has("kube-apiserver") {
		t.Errorf("canceled: the data is %q, %v, etcd %t, API server %t", data, err, m.has("etcd"), m.has("kube-apiserver"))
	}
}

func TestDamagedJournalOfAFinishedRestoreDoesNotMatter(t *testing.T) {
	for situation, end := range map[string]func(*testing.T, *machine) restore.Run{
		"finished": func(t *testing.T, m *machine) restore.Run {
			t.Helper()
			p, _, err := m.restore(t, Request{}, "")
			must(t, err)
			return p.Restore.Plan.Run
		},
		"canceled": func(t *testing.T, m *machine) restore.Run {
			t.Helper()
			p, died, err := m.restore(t, Request{}, "restore-"+restore.StopEtcd+"/started")
			if err != nil || !died {
				t.Fatalf("%t %v", died, err)
			}
			m.cancel(t, "")
			return p.Restore.Plan.Run
		},
	} {
		t.Run(situation, func(t *testing.T) {
			m := newBed(t, "cp-1").hosts["cp-1"]
			must(t, os.WriteFile(m.site().journalFile(end(t, m)), []byte("damaged\n"), 0o600))
			r := &Restore{Site: m.site(), Machine: m, Progress: func(string) {}, Timeouts: DefaultTimeouts()}
			if err := Finish(t.Context(), r, quiet); err != nil {
				t.Errorf("the agent does not start: %v", err)
			}
			if open, err := m.site().InProgress(); open != nil || err != nil {
				t.Errorf("%+v %v", open, err)
			}
		})
	}
}

// The journal of an open restore is needed: it has what is stopped.
func TestDamagedJournalOfAnOpenRestoreIsReported(t *testing.T) {
	_, m, r := interrupted(t, false)
	must(t, os.WriteFile(m.site().journalFile(r.Plan.Run), []byte("damaged\n"), 0o600))
	if _, _, err := m.site().Open(); err == nil {
		t.Error("the restore counts as finished")
	}
}

// watched is a store that calls read while an object is read.
type watched struct {
	enginebackup.Objects
	read func()
}

func (w watched) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	w.read()
	found, err := w.Objects.Get(ctx, key)
	return struct {
		io.Reader
		io.Closer
	}{readerFunc(func(p []byte) (int, error) { w.read(); return found.Read(p) }), found}, err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A command without --yes can be killed at any time, and may be the last one on the host.
func TestACommandThatOnlyPrintsHasNoDecryptedFile(t *testing.T) {
	m := newBed(t, "cp-1").hosts["cp-1"]
	desk, reads := m.desk(t, ""), 0
	desk.Exclusive = false
	none := func() {
		reads++
		_ = filepath.WalkDir(m.site().Dir, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				t.Errorf("%s exists", path)
			}
			return nil
		})
	}
	desk.Open = func(*refitv1alpha1.BackupStoreSpec) (enginebackup.Target, error) {
		target := m.bed.target(t)
		target.Store = watched{target.Store, none}
		return target, nil
	}
	p, err := desk.Prepare(t.Context(), Request{Identities: []age.Identity{m.bed.identity}})
	must(t, err)
	none()
	if len(p.Decision.Refusals) > 0 || p.Restore.Plan.Revision != 3 || len(p.Restore.Plan.Members) != 1 || reads < 3 {
		t.Errorf("%+v after %d reads", p.Decision, reads)
	}
}
