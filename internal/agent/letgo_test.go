package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/internal/agent/settings"
)

// What a work kept beside the programs that it replaced goes with the agent; the programs stay.
func TestNothingIsKeptForTheWayBackAnyMore(t *testing.T) {
	s, bin := settings.Default(), t.TempDir()
	s.StateDir = t.TempDir()
	if err := LetGo(s); err != nil {
		t.Errorf("a host without a work: %v", err)
	}
	work := filepath.Join(s.UpgradesDir(), "work-1")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	kubelet, old, reserve := filepath.Join(bin, "kubelet"), filepath.Join(bin, ".kubelet.refit-old"), s.ReserveFile()
	for path, text := range map[string]string{
		kubelet: "new", old: "old", reserve: "room", filepath.Join(work, "inventory.json"): `{"files":[{"part":"kubelet","name":"kubelet","path":"` + kubelet + `"}]}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := LetGo(s); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{kubelet: true, old: false, reserve: false} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) == want {
			t.Errorf("%s: %v", path, err)
		}
	}
}
