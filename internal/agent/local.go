package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// LocalStatus is what the host itself knows of its work.
type LocalStatus struct {
	Memory node.Memory
	State  *node.State // nil: there was no work yet
}

// Status reads it without disturbing an agent that works.
func Status(s settings.Settings) (LocalStatus, error) {
	id, err := host.Identify()
	if err != nil {
		return LocalStatus{}, err
	}
	memory, err := loadMemory(s.MemoryFile(), id.MachineID)
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
	records, err := journal.Read(filepath.Join(s.WorkDir(), dir, "journal"), id.MachineID)
	return LocalStatus{Memory: memory, State: node.Read(records)}, err
}

// Undo puts the host back to before its last work, as an order to roll back would.
func Undo(ctx context.Context, config Config) (LocalStatus, error) {
	lock, err := host.Lock(config.Settings.LockFile())
	if err != nil {
		return LocalStatus{}, fmt.Errorf("the service is at work; stop it first (systemctl stop refit-agent): %w", err)
	}
	defer lock.Close()
	a, err := start(ctx, config)
	if err != nil {
		return LocalStatus{}, err
	}
	defer a.systemd.Close()
	if a.work == nil {
		return LocalStatus{}, errors.New("there was no work on this host, so there is nothing to undo")
	}
	state := node.Read(a.work.journal.Records())
	if state.Ended == refitv1alpha1.NodeRolledBack {
		return LocalStatus{Memory: a.memory, State: state}, nil
	}
	order := state.Order
	order.Permit, order.ByHand = refitv1alpha1.PermitRollback, true
	if err := a.work.write(node.Record{Kind: node.Ordered, Order: &order}); err != nil {
		return LocalStatus{}, err
	}
	a.memory.Open = filepath.Base(a.work.host.Dir)
	if err := storeMemory(a.Settings.MemoryFile(), a.memory); err != nil {
		return LocalStatus{}, err
	}
	for {
		more, err := a.step(ctx)
		if err != nil {
			return LocalStatus{}, err
		}
		if !more || a.memory.Open == "" {
			break
		}
	}
	state = node.Read(a.work.journal.Records())
	if state.Failure != nil {
		return LocalStatus{}, state.Failure
	}
	return LocalStatus{Memory: a.memory, State: state}, ctx.Err()
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
	memory, err := loadMemory(s.MemoryFile(), id.MachineID)
	if err != nil {
		return 0, err
	}
	n := len(memory.Files)
	memory.Files = nil
	return n, storeMemory(s.MemoryFile(), memory)
}
