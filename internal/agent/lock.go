package agent

import (
	"errors"
	"fmt"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/host"
)

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
