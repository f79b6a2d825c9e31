package restore

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// A file that an operator leaves among the runs must not keep the agent from its start.
func TestFilesBesideTheRunsAreIgnored(t *testing.T) {
	m := newBed(t, "cp-1").hosts["cp-1"]
	must(t, os.MkdirAll(m.site().Dir, 0o700))
	note := filepath.Join(m.site().Dir, "NOTES")
	must(t, os.WriteFile(note, []byte("restored on Monday"), 0o600))
	if _, open, err := m.site().Open(); open || err != nil {
		t.Errorf("open %t, %v", open, err)
	}
	must(t, m.site().RemoveUnconfirmed())
	if !exists(note) {
		t.Error("the file is removed")
	}
}

// The wait for other hosts can become one for the operator of this host.
func TestAnotherReasonOfAWaitIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newBed(t, "cp-1", "cp-2", "cp-3").hosts["cp-1"]
		if _, _, err := m.restore(t, Request{}, ""); !errors.Is(err, ErrPending) {
			t.Fatal(err)
		}
		var text bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			r := &Restore{Site: m.site(), Machine: m, Progress: func(string) {}, Timeouts: DefaultTimeouts()}
			ended <- Finish(ctx, r, slog.New(slog.NewTextHandler(&text, nil)))
		}()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if lines := strings.Count(text.String(), "\n"); lines != 1 || !strings.Contains(text.String(), ErrPending.Error()) {
			t.Errorf("logged:\n%s", text.String())
		}
		if _, died := m.cancel(t, "restore-cancel/started"); !died {
			t.Fatal("it was canceled")
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if lines := strings.Count(text.String(), "\n"); lines != 2 || !strings.Contains(text.String(), "was interrupted") {
			t.Errorf("logged:\n%s", text.String())
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
}
