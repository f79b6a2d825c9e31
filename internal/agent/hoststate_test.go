package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestInvalidStates(t *testing.T) {
	for _, situation := range []struct{ name, text, reason string }{
		{"of another machine", `{"format":1,"machineID":"ffffffffffffffffffffffffffffffff"}`, "OtherMachine"},
		{"of a newer agent", `{"format":3,"machineID":"` + machineID + `"}`, "StateNewer"},
		{"truncated", `{"format":1,"mach`, "StateCorrupted"},
	} {
		t.Run(situation.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			if err := os.WriteFile(path, []byte(situation.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := loadState(path, machineID)
			if f, ok := errors.AsType[*node.Failure](err); !ok || f.Reason != situation.reason {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestStateOfAnOlderAgentKeepsItsFences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	older := `{"format":1,"machineID":"` + machineID + `","sequence":7,"epoch":3,"highest":"v1.36.3","last":"work-1","answer":{"sequence":7,"failure":{"class":"NeedsPerson"}}}`
	if err := os.WriteFile(path, []byte(older), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := loadState(path, machineID)
	if err != nil || got.Sequence != 7 || got.Epoch != 3 || got.Highest != "v1.36.3" || got.Last != "work-1" || got.Result != nil || got.Format != node.HostStateFormat {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFormerNamesAreAdopted(t *testing.T) {
	s := settings.Default()
	s.StateDir = t.TempDir()
	for path, text := range map[string]string{"memory.json": "{}", "work/work-1/journal": "x"} {
		path = filepath.Join(s.StateDir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := adoptFormerNames(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{s.StateFile(), filepath.Join(s.UpgradesDir(), "work-1", "journal")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

func TestStateRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if state, err := loadState(path, machineID); err != nil || state.Sequence != 0 {
		t.Fatalf("no state: %+v, %v", state, err)
	}
	want := node.HostState{Format: 1, MachineID: machineID, Sequence: 7, Epoch: 3, Highest: "v1.36.3", Last: "upgrade-1"}
	if err := saveState(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := loadState(path, machineID)
	if err != nil || got.Sequence != 7 || got.Epoch != 3 || got.Highest != "v1.36.3" || got.Last != "upgrade-1" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A state that cannot be opened, as by another user than root, is not corrupted: removing it would
// lose the orders that the host accepted.
func TestUnreadableStateIsNotReportedAsCorrupted(t *testing.T) {
	path := t.TempDir() // reading a directory fails, for root as well
	_, err := loadState(path, machineID)
	if err == nil || errors.As(err, new(*node.Failure)) || !strings.HasPrefix(err.Error(), "cannot read "+path) {
		t.Errorf("got %v", err)
	}
}
