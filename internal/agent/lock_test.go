package agent

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/host"
)

func TestOnlyAHeldLockIsBlamedOnAnotherProcess(t *testing.T) {
	s := settings.Default()
	for situation, c := range map[string]struct {
		prepare func(t *testing.T)
		blamed  bool
	}{
		"no state directory": {func(*testing.T) { s.StateDir = filepath.Join(s.StateDir, "none") }, false},
		"not a directory":    {func(*testing.T) { s.StateDir = "/dev/null" }, false},
		"held": {func(t *testing.T) {
			t.Helper()
			held, err := host.Lock(s.LockFile())
			must(t, err)
			t.Cleanup(func() { must(t, held.Close()) })
		}, true},
	} {
		t.Run(situation, func(t *testing.T) {
			s.StateDir = t.TempDir()
			c.prepare(t)
			_, forget := Forget(s)
			_, undo := Undo(t.Context(), Config{Settings: s})
			for _, err := range []error{forget, undo} {
				if err == nil || strings.Contains(err.Error(), "the service is running") != c.blamed {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

func TestHostWithoutStateHasNothingToForgetOrUndo(t *testing.T) {
	s := settings.Default()
	s.StateDir = filepath.Join(t.TempDir(), "none")
	if _, err := Forget(s); err == nil || err.Error() != "no binaries to accept: the agent has not run on this host" {
		t.Errorf("got %v", err)
	}
	if _, err := Undo(t.Context(), Config{Settings: s}); err == nil || err.Error() != "nothing to undo: this host was not upgraded" {
		t.Errorf("got %v", err)
	}
}
