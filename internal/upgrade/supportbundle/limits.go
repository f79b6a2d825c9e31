package supportbundle

import (
	"fmt"
	"time"
)

// Limits bound a bundle. All sizes are bytes before compression.
type Limits struct {
	Total   int64         // of the archive
	Host    int64         // of the journals of a host
	Log     int64         // of the log of a container
	Timeout time.Duration // of the collection
	// HostTimeout bounds one host, with the start of its Pod.
	HostTimeout time.Duration
	Hosts       int // how many hosts are collected
}

// DefaultLimits are the limits without flags.
func DefaultLimits() Limits {
	return Limits{
		Total: 256 << 20, Host: 20 << 20, Log: 5 << 20, Timeout: 5 * time.Minute, HostTimeout: 90 * time.Second, Hosts: 20,
	}
}

// The bounds of the limits.
const (
	minBytes = 64 << 10
	maxBytes = 4 << 30
	// MaxHostBytes bounds a host: a collector holds its journals in memory.
	MaxHostBytes = 64 << 20
	maxHosts     = 200
	maxTimeout   = time.Hour
)

// Validate checks limits that a user has set.
func (l *Limits) Validate() error {
	for _, size := range []struct {
		name       string
		value, max int64
	}{
		{"the total size", l.Total, maxBytes}, {"the size per host", l.Host, MaxHostBytes}, {"the size per log", l.Log, MaxHostBytes},
	} {
		if size.value < minBytes || size.value > size.max {
			return fmt.Errorf("%s must be between %d KiB and %d MiB", size.name, minBytes>>10, size.max>>20)
		}
	}
	switch {
	case l.Timeout < time.Second || l.Timeout > maxTimeout:
		return fmt.Errorf("the timeout must be between 1s and %s", maxTimeout)
	case l.HostTimeout < time.Second || l.HostTimeout > maxTimeout:
		return fmt.Errorf("the timeout of a host must be between 1s and %s", maxTimeout)
	case l.Hosts < 0 || l.Hosts > maxHosts:
		return fmt.Errorf("the number of hosts must be between 0 and %d", maxHosts)
	}
	return nil
}
