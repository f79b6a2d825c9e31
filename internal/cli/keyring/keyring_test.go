package keyring

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestServersHaveNoKeyring(t *testing.T) {
	for situation, environment := range map[string]map[string]string{
		"no session":                 {},
		"a session without its bus":  {"XDG_RUNTIME_DIR": t.TempDir()},
		"a bus that is gone":         {"DBUS_SESSION_BUS_ADDRESS": "unix:path=" + t.TempDir() + "/bus"},
		"a bus that must be started": {"DBUS_SESSION_BUS_ADDRESS": "autolaunch:"},
	} {
		if OfUser(func(name string) string { return environment[name] }, nil) != nil {
			t.Errorf("%s: there is a keyring", situation)
		}
	}
}

func TestLockedKeyringIsReportedAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notes strings.Builder
		hang := make(chan struct{})
		defer close(hang)
		start := time.Now()
		_, err := bounded(t.Context(), &notes, func() (string, error) { <-hang; return "", nil })
		if err == nil || time.Since(start) != timeout || !strings.Contains(notes.String(), "may ask to be unlocked") {
			t.Errorf("after %s: %v, %q", time.Since(start), err, notes.String())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := bounded(ctx, &notes, func() (string, error) { <-hang; return "", nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("interrupted: %v", err)
		}
	})
}
