package agent

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestMemoriesThatAreRefused(t *testing.T) {
	for _, situation := range []struct{ name, text, reason string }{
		{"of another machine", `{"format":1,"machineID":"ffffffffffffffffffffffffffffffff"}`, "OtherMachine"},
		{"of a newer agent", `{"format":3,"machineID":"` + machineID + `"}`, "MemoryNewer"},
		{"torn", `{"format":1,"mach`, "StateCorrupted"},
	} {
		t.Run(situation.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			if err := os.WriteFile(path, []byte(situation.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := loadMemory(path, machineID)
			if f, ok := errors.AsType[*node.Failure](err); !ok || f.Reason != situation.reason {
				t.Errorf("the answer is %v", err)
			}
		})
	}
}

func TestTheStateOfAnOlderAgentKeepsItsFences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.json")
	older := `{"format":1,"machineID":"` + machineID + `","sequence":7,"epoch":3,"highest":"v1.36.3","last":"work-1","answer":{"sequence":7,"failure":{"class":"NeedsPerson"}}}`
	if err := os.WriteFile(path, []byte(older), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := loadMemory(path, machineID)
	if err != nil || got.Sequence != 7 || got.Epoch != 3 || got.Highest != "v1.36.3" || got.Last != "work-1" || got.Result != nil || got.Format != node.HostStateFormat {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAMemoryComesBackAsItWasStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if memory, err := loadMemory(path, machineID); err != nil || memory.Sequence != 0 {
		t.Fatalf("a host without a memory: %+v, %v", memory, err)
	}
	want := node.HostState{Format: 1, MachineID: machineID, Sequence: 7, Epoch: 3, Highest: "v1.36.3", Last: "work-1"}
	if err := storeMemory(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := loadMemory(path, machineID)
	if err != nil || got.Sequence != 7 || got.Epoch != 3 || got.Highest != "v1.36.3" || got.Last != "work-1" {
		t.Errorf("it came back as %+v, %v", got, err)
	}
}
