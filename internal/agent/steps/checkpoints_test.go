package steps

import (
	"os"
	"path/filepath"
	"testing"
)

func TestACheckpointThatAPowerCutToreIsSetAsideAndAWholeOneIsNot(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"allocated_pods_state": "\x00\x00\x00\x00", "actuated_pods_state": `{"data":"{}","checksum":1}`, "cpu_manager_state": "", "other": "\x00",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	torn, err := setTornCheckpointsAside(dir)
	if err != nil || len(torn) != 2 {
		t.Errorf("set aside %v, %v", torn, err)
	}
	for name, there := range map[string]bool{
		"allocated_pods_state": false, "allocated_pods_state.torn": true, "actuated_pods_state": true, "cpu_manager_state": false, "other": true,
	} {
		if exists(filepath.Join(dir, name)) != there {
			t.Errorf("%s is there: %v", name, !there)
		}
	}
}
