package agent

import (
	"errors"
	"fmt"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
)

// lockRunning acquires the lock of the host for its agent. If it cannot, it restores the control
// plane first, unless another process holds the lock: that process has done so, or changes the
// manifests right now.
func lockRunning(config Config) (*host.Locked, error) {
	err := durable.MkdirAll(config.Settings.StateDir, 0o700)
	if err == nil {
		var locked *host.Locked
		if locked, err = lock(config.Settings, "another agent is running on this host"); err == nil {
			return locked, nil
		}
	}
	if !errors.Is(err, host.ErrLocked) {
		(&Agent{Config: config}).restoreInterrupted()
	}
	return nil, err
}

// lockStopped acquires the lock of a host whose service is stopped.
func lockStopped(s settings.Settings) (*host.Locked, error) {
	return lock(s, "the service is running; stop it first (systemctl stop refit-agent)")
}

// lock acquires the lock of the host. Only an error because another process holds the lock begins
// with held.
func lock(s settings.Settings, held string) (*host.Locked, error) {
	locked, err := host.Lock(s.LockFile())
	if errors.Is(err, host.ErrLocked) {
		return nil, fmt.Errorf("%s: %w", held, err)
	}
	return locked, err
}
