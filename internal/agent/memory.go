package agent

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// loadMemory reads what the host remembers. A memory of another machine, as on a cloned disk, is not this host's.
func loadMemory(path, machineID string) (node.HostState, error) {
	memory := node.HostState{Format: node.HostStateFormat, MachineID: machineID}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return memory, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &memory)
	}
	switch {
	case err != nil:
		return memory, node.HostBroken("StateCorrupted", err, "restore "+path+" or, if no upgrade is open on this host, remove it; then restart refit-agent",
			"the agent's memory cannot be read")
	case memory.Format > node.HostStateFormat:
		return memory, node.ManualIntervention("MemoryNewer", nil, "install the agent that wrote it, or a newer one",
			"the agent's memory has format %d, this agent knows %d",
			memory.Format, node.HostStateFormat)
	case memory.MachineID != machineID:
		return memory, node.ManualIntervention("OtherMachine", nil, "if this disk was cloned, remove the agent's state directory; then restart refit-agent",
			"the agent's memory is of machine %s, this is %s", memory.MachineID, machineID)
	}
	memory.Format = node.HostStateFormat
	return memory, nil
}

func storeMemory(path string, memory node.HostState) error {
	text, err := json.MarshalIndent(memory, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(path, append(text, '\n'), 0o600)
}
