package restore

import (
	"context"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// A backup in a directory of hosts is only on the one that took it.
func TestBackupOfAnotherHostNamesThatHost(t *testing.T) {
	b := newBed(t, "cp-1")
	_, _, err := b.hosts["cp-1"].restore(t, Request{Backup: "older"}, "")
	for _, part := range []string{"the store has none of its objects", "cp-3 has taken the backup", "copy /backups/0a1b2c3d-0000-4000-8000-00000000000b from it"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v, want %q in it", err, part)
		}
	}
}

func TestABackupThatRetentionHasDeletedIsNotChosen(t *testing.T) {
	b := newBed(t, "cp-1")
	desk := b.hosts["cp-1"].desk(t, "")
	request := Request{Identities: []age.Identity{b.identity}}
	newest := desk.Records.Backups[0]
	newest.Name, newest.UID, newest.Deleted = "newest", "0a1b2c3d-0000-4000-8000-00000000000c", now
	desk.Records.Backups = slices.Insert(desk.Records.Backups, 0, newest)
	if got, err := desk.source(request); err != nil || got.Expected.ID.UID != backupUID {
		t.Errorf("chosen: %+v, %v", got.Expected, err)
	}
	request.Backup = "newest"
	if _, err := desk.Prepare(t.Context(), request); err == nil || node.FailureOf(err).Reason != "BackupDeleted" {
		t.Errorf("by its name: %v", err)
	}
	spec := desk.Records.Stores["local"]
	request.Store = &spec
	if got, err := desk.source(request); err != nil || got.Expected.ID.UID != newest.UID {
		t.Errorf("a copy in another store: %+v, %v", got.Expected, err)
	}
	request.Backup, request.Store, desk.Records.Backups = "", nil, desk.Records.Backups[:1]
	if _, err := desk.source(request); err == nil || !strings.Contains(err.Error(), "retention has deleted every recorded backup") {
		t.Errorf("no other: %v", err)
	}
}

// The deletion that follows the mark may fail.
func TestABackupThatIsOnlyMarkedAsDeletedCanBeRestored(t *testing.T) {
	b := newBed(t, "cp-1")
	desk := b.hosts["cp-1"].desk(t, "")
	for i := range desk.Records.Backups {
		desk.Records.Backups[i].Deleted = now
	}
	p, err := desk.Prepare(t.Context(), Request{Backup: "nightly", Identities: []age.Identity{b.identity}})
	if err != nil || p.Observation.Backup.ID != backupUID+"/1" {
		t.Errorf("%+v, %v", p.Observation.Backup, err)
	}
}

func TestRestoreWithoutThisHostIsRejected(t *testing.T) {
	b := newBed(t, "cp-1", "cp-2", "cp-3")
	_, _, err := b.hosts["cp-1"].restore(t, Request{Without: []string{"cp-1"}}, "")
	if err == nil || !strings.Contains(err.Error(), "is this host") {
		t.Error(err)
	}
}

// An interruption is no failure that an operator has to fix.
func TestInterruptedRestoreHasNoFailure(t *testing.T) {
	b := newBed(t, "cp-1")
	m := b.hosts["cp-1"]
	ctx, cancel := context.WithCancel(t.Context())
	p, err := m.desk(t, "").Prepare(ctx, Request{Identities: []age.Identity{b.identity}})
	must(t, err)
	m.etcdutl = context.Canceled
	p.Restore.Point = func(string) { cancel() }
	must(t, p.Restore.Begin())
	defer p.Restore.Close()
	if err := p.Restore.Execute(ctx); err == nil {
		t.Fatal("it was not interrupted")
	}
	if open, err := m.site().InProgress(); err != nil || open == nil || open.Failure != nil {
		t.Errorf("%+v, %v, want an open restore without a failure", open, err)
	}
}
