package transient

import (
	"context"
	"fmt"
	"sync"

	"github.com/coreos/go-systemd/v22/dbus"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// bus is what this package calls of systemd.
type bus interface {
	StartTransientUnitContext(ctx context.Context, name, mode string, properties []dbus.Property, done chan<- string) (int, error)
	StopUnitContext(ctx context.Context, name, mode string, done chan<- string) (int, error)
	ResetFailedUnitContext(ctx context.Context, name string) error
	GetAllPropertiesContext(ctx context.Context, name string) (map[string]any, error)
	ListUnitsByPatternsContext(ctx context.Context, states, patterns []string) ([]dbus.UnitStatus, error)
	Connected() bool
	Close()
}

// Systemd starts and observes transient units.
type Systemd struct {
	mu      sync.Mutex
	conn    bus
	connect func(context.Context) (bus, error)
}

// Connect connects to systemd's private socket. Close the connection when it is not needed.
func Connect(ctx context.Context) (*Systemd, error) {
	s := &Systemd{connect: dial}
	if _, err := s.connection(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// dial connects. The library closes a connection with its context, so the context must outlive the
// caller's.
func dial(ctx context.Context) (bus, error) {
	conn, err := dbus.NewSystemdConnectionContext(context.WithoutCancel(ctx))
	if err != nil {
		return nil, node.Transient("SystemdUnreachable", err, "Check systemd (`systemctl status`); if it does not respond, reboot the host",
			"cannot connect to systemd")
	}
	return conn, nil
}

// Close ends the connection. Units continue to run.
func (s *Systemd) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}

// connection returns an open connection. systemd drops all connections when it re-executes itself.
func (s *Systemd) connection(ctx context.Context) (bus, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil && s.conn.Connected() {
		return s.conn, nil
	}
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	s.conn = conn
	return conn, nil
}

// with calls systemd and retries once if the connection was lost.
func (s *Systemd) with(ctx context.Context, call func(bus) error) error {
	for first := true; ; first = false {
		conn, err := s.connection(ctx)
		if err != nil {
			return err
		}
		if err := call(conn); err == nil || conn.Connected() || !first {
			return err
		}
	}
}

// failed returns the failure of a call to systemd about a unit.
func failed(verb, unit string, err error) error {
	return fmt.Errorf("cannot %s %s: %w", verb, unit, err)
}
