package agent

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// LocalStatus is the state of the host and its last upgrade.
type LocalStatus struct {
	Host  node.HostState
	State *node.State // nil if there was no upgrade
}

// Status reads the local status without disturbing a running agent.
func Status(s settings.Settings) (LocalStatus, error) {
	id, err := host.Identify()
	if err != nil {
		return LocalStatus{}, err
	}
	remembered, err := loadState(s.StateFile(), id.MachineID)
	if err != nil {
		return LocalStatus{}, err
	}
	dir := remembered.Open
	if dir == "" {
		dir = remembered.Last
	}
	if dir == "" {
		return LocalStatus{Host: remembered}, nil
	}
	records, err := journal.Read(filepath.Join(s.UpgradesDir(), dir, "journal"), id.MachineID)
	return LocalStatus{Host: remembered, State: node.Read(records)}, err
}

// Forget accepts the host as it is: binaries that something other than Refit replaced, and changes
// of an upgrade that was not resumed. It returns the number of binaries.
func Forget(s settings.Settings) (int, error) {
	lock, err := lockStopped(s)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, errors.New("no binaries to accept: the agent has not run on this host")
	}
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	id, err := host.Identify()
	if err != nil {
		return 0, err
	}
	remembered, err := loadState(s.StateFile(), id.MachineID)
	if err != nil {
		return 0, err
	}
	n := accepted(&remembered)
	return n, saveState(s.StateFile(), remembered)
}

func accepted(state *node.HostState) (binaries int) {
	binaries = len(state.Files)
	state.Files, state.Unresumed = nil, nil
	return binaries
}
