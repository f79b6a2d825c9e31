package agent

import (
	"fmt"
	"path/filepath"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// LocalStatus is what the host itself knows of its work.
type LocalStatus struct {
	Memory node.HostState
	State  *node.State // nil: there was no work yet
}

// Status reads it without disturbing an agent that works.
func Status(s settings.Settings) (LocalStatus, error) {
	id, err := host.Identify()
	if err != nil {
		return LocalStatus{}, err
	}
	memory, err := loadMemory(s.StateFile(), id.MachineID)
	if err != nil {
		return LocalStatus{}, err
	}
	dir := memory.Open
	if dir == "" {
		dir = memory.Last
	}
	if dir == "" {
		return LocalStatus{Memory: memory}, nil
	}
	records, err := journal.Read(filepath.Join(s.UpgradesDir(), dir, "journal"), id.MachineID)
	return LocalStatus{Memory: memory, State: node.Read(records)}, err
}

// Forget accepts programs that somebody else replaced.
func Forget(s settings.Settings) (int, error) {
	lock, err := host.Lock(s.LockFile())
	if err != nil {
		return 0, fmt.Errorf("the service is at work; stop it first (systemctl stop refit-agent): %w", err)
	}
	defer lock.Close()
	id, err := host.Identify()
	if err != nil {
		return 0, err
	}
	memory, err := loadMemory(s.StateFile(), id.MachineID)
	if err != nil {
		return 0, err
	}
	n := len(memory.Files)
	memory.Files = nil
	return n, storeMemory(s.StateFile(), memory)
}
