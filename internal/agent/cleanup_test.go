package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/internal/agent/settings"
)

func TestRemoveRollbackFilesKeepsInstalledFiles(t *testing.T) {
	s, bin := settings.Default(), t.TempDir()
	s.StateDir = t.TempDir()
	if err := RemoveRollbackFiles(s); err != nil {
		t.Errorf("a host without upgrades: %v", err)
	}
	upgrade := filepath.Join(s.UpgradesDir(), "upgrade-1")
	if err := os.MkdirAll(upgrade, 0o700); err != nil {
		t.Fatal(err)
	}
	kubelet, old, reserve := filepath.Join(bin, "kubelet"), filepath.Join(bin, ".kubelet.refit-old"), s.ReserveFile()
	for path, text := range map[string]string{
		kubelet: "new", old: "old", reserve: "space", filepath.Join(upgrade, "inventory.json"): `{"files":[{"part":"kubelet","name":"kubelet","path":"` + kubelet + `"}]}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveRollbackFiles(s); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{kubelet: true, old: false, reserve: false} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) == want {
			t.Errorf("%s: %v", path, err)
		}
	}
}
