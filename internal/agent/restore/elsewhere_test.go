package restore

import (
	"context"
	"strings"
	"testing"

	"filippo.io/age"
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
