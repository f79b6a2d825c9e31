package agent

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// loadState reads the host state. The state of another machine, as on a cloned disk, is an error.
func loadState(path, machineID string) (node.HostState, error) {
	state := node.HostState{Format: node.HostStateFormat, MachineID: machineID}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err != nil {
		return state, durable.Explain(err, "read", path)
	}
	err = json.Unmarshal(text, &state)
	switch {
	case err != nil:
		return state, node.HostBroken("StateCorrupted", err,
			"Restore "+path+" or, if no upgrade is open on this host, remove it; then run `systemctl restart refit-agent`",
			"cannot read the state of the agent")
	case state.Format > node.HostStateFormat:
		return state, node.ManualIntervention("StateNewer", nil, "Install the agent that wrote it, or a newer one: `refit install` of that version",
			"the state of the agent has format %d, but this agent supports %d",
			state.Format, node.HostStateFormat)
	case state.MachineID != machineID:
		return state, node.ManualIntervention("OtherMachine", nil,
			"If this disk was cloned, remove the state directory of the agent, then run `systemctl restart refit-agent`",
			"the state of the agent belongs to machine %s, but this is machine %s", state.MachineID, machineID)
	}
	state.Format = node.HostStateFormat
	return state, nil
}

func saveState(path string, state node.HostState) error {
	text, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(path, append(text, '\n'), 0o600)
}

// adoptFormerNames renames the files of agents before format 2: a host must not forget the orders
// that it accepted. It renames the state last, because the state names directories of upgrades.
func adoptFormerNames(s settings.Settings) error {
	for _, name := range []struct{ from, to string }{{"work", s.UpgradesDir()}, {"memory.json", s.StateFile()}} {
		if _, err := os.Lstat(name.to); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		err := durable.Rename(filepath.Join(s.StateDir, name.from), name.to)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
