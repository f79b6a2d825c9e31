package restore

import (
	"errors"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/restore"
)

func TestUnfinishedRestoreIsVisible(t *testing.T) {
	b := newBed(t, "cp-1", "cp-2", "cp-3")
	m := b.hosts["cp-1"]
	if p, err := m.site().InProgress(); p != nil || err != nil {
		t.Fatalf("%+v %v", p, err)
	}
	m.etcdutl = errors.New("no space left on device")
	if _, _, err := m.restore(t, Request{}, ""); err == nil {
		t.Fatal("it was restored")
	}
	want := func(parts ...string) {
		t.Helper()
		p, err := m.site().InProgress()
		must(t, err)
		var text strings.Builder
		p.Print(&text)
		for _, part := range parts {
			if !strings.Contains(text.String(), part) {
				t.Errorf("%q is missing in\n%s", part, text.String())
			}
		}
	}
	want(backupUID, "All", restore.RestoreData, "no space left", "run the same command again", "refit-agent restore --run ", "refit-agent restore --cancel --yes")
	m.etcdutl = nil
	if _, _, err := m.restore(t, Request{}, ""); !errors.Is(err, ErrPending) {
		t.Fatal(err)
	}
	want(restore.StartAPIServer, "waits for cp-2 and cp-3", "Next, on cp-2:\n    refit-agent restore --backup="+backupUID)
	if _, died := m.cancel(t, "restore-cancel/moved"); !died {
		t.Fatal("it was canceled")
	}
	want("being canceled")
}
