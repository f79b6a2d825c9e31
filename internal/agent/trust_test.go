package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// The journal and the envelopes decide what root does on the host.
func TestStateThatOthersCanWriteIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("changing owners needs root")
	}
	s := settings.Default()
	for name, spoil := range map[string]func(string) error{
		"directory of another user":              func(dir string) error { return os.Chown(dir, 1000, 0) },
		"directory writable by all":              func(dir string) error { return os.Chmod(dir, 0o777) },
		"upgrades of another user":               func(dir string) error { return os.Chown(filepath.Join(dir, "upgrades"), 1000, 0) },
		"journal writable by a group":            func(dir string) error { return os.Chmod(filepath.Join(dir, "upgrades/upgrade-1/journal"), 0o620) },
		"envelope of another user":               func(dir string) error { return os.Chown(filepath.Join(dir, "releases/1.json"), 1000, 0) },
		"state file that is a link to elsewhere": func(dir string) error { return relink(filepath.Join(dir, "state.json")) },
	} {
		t.Run(name, func(t *testing.T) {
			s.StateDir = t.TempDir()
			for _, file := range []string{"state.json", "upgrades/upgrade-1/journal", "releases/1.json"} {
				path := filepath.Join(s.StateDir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := checkStateOwner(s); err != nil {
				t.Fatal(err)
			}
			if err := spoil(s.StateDir); err != nil {
				t.Fatal(err)
			}
			if err := checkStateOwner(s); err == nil || node.FailureOf(err).Reason != "StateUnsafe" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func relink(path string) error {
	if err := os.Rename(path, path+".other"); err != nil {
		return err
	}
	return os.Symlink(path+".other", path)
}

func TestNewHostHasNoState(t *testing.T) {
	s := settings.Default()
	s.StateDir = filepath.Join(t.TempDir(), "refit")
	if err := checkStateOwner(s); err != nil {
		t.Error(err)
	}
}
