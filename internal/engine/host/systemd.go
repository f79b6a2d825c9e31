package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/dbus"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Systemd is the host's service manager, spoken to directly: its own socket is there even when the bus daemon is not.
type Systemd struct {
	mu   sync.Mutex
	conn *dbus.Conn
	stop context.CancelFunc
}

// ConnectSystemd connects to the service manager. The context is for connecting only. systemd tells a connection about everything that it does, so
// one that is not needed should be closed.
func ConnectSystemd(ctx context.Context) (*Systemd, error) {
	s := &Systemd{}
	if _, err := s.connection(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends the connection.
func (s *Systemd) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangUp()
}

func (s *Systemd) hangUp() {
	if s.conn != nil {
		s.conn.Close()
		s.stop()
		s.conn = nil
	}
}

// connection is the open one, or a new one: when systemd executes itself anew, as an upgrade of its package does, it drops all.
func (s *Systemd) connection(ctx context.Context) (*dbus.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil && s.conn.Connected() {
		return s.conn, nil
	}
	s.hangUp()
	// The library ends a connection with its context, which must therefore not be the caller's once it stands.
	own, stop := context.WithCancel(context.WithoutCancel(ctx))
	abandon := context.AfterFunc(ctx, stop)
	conn, err := dbus.NewSystemdConnectionContext(own)
	if err == nil && !abandon() {
		conn.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		stop()
		return nil, node.Transient("SystemdUnreachable", err, "see whether systemd answers (systemctl status); if it does not, reboot the host",
			"systemd does not answer")
	}
	s.conn, s.stop = conn, stop
	return conn, nil
}

// with asks systemd something, a second time if the connection turns out to be gone.
func (s *Systemd) with(ctx context.Context, ask func(*dbus.Conn) error) error {
	for again := true; ; again = false {
		conn, err := s.connection(ctx)
		if err != nil {
			return err
		}
		if err := ask(conn); err == nil || conn.Connected() || !again {
			return err
		}
	}
}

// Reload makes systemd read its unit files again.
func (s *Systemd) Reload(ctx context.Context) error {
	if err := s.with(ctx, func(conn *dbus.Conn) error { return conn.ReloadContext(ctx) }); err != nil {
		return fmt.Errorf("reloading systemd's units: %w", err)
	}
	return nil
}

// Restart restarts a unit, or starts it, and waits until systemd is done with it.
func (s *Systemd) Restart(ctx context.Context, unit string) error {
	s.resetFailed(ctx, unit)
	return s.job(ctx, "restart", unit, (*dbus.Conn).RestartUnitContext)
}

// Start starts a unit and waits until systemd is done with it.
func (s *Systemd) Start(ctx context.Context, unit string) error {
	s.resetFailed(ctx, unit)
	return s.job(ctx, "start", unit, (*dbus.Conn).StartUnitContext)
}

// resetFailed forgets how often a unit was started in vain: one that hit its start limit must be startable on the way back. A unit that is not loaded
// has nothing to forget, and whatever else is wrong the start itself tells.
func (s *Systemd) resetFailed(ctx context.Context, unit string) {
	_ = s.with(ctx, func(conn *dbus.Conn) error { return conn.ResetFailedUnitContext(ctx, unit) })
}

// Stop stops a unit and waits until systemd is done with it.
func (s *Systemd) Stop(ctx context.Context, unit string) error {
	return s.job(ctx, "stop", unit, (*dbus.Conn).StopUnitContext)
}

type jobFunc func(conn *dbus.Conn, ctx context.Context, unit, mode string, done chan<- string) (int, error)

// job asks for a job and waits for its end. A job that was not waited for to the end goes on.
func (s *Systemd) job(ctx context.Context, verb, unit string, ask jobFunc) error {
	began := time.Now()
	done := make(chan string, 2) // The library waits for whoever reads it.
	var id int
	err := s.with(ctx, func(conn *dbus.Conn) (err error) {
		id, err = ask(conn, ctx, unit, "replace", done)
		return err
	})
	if err != nil {
		return s.jobFailed(ctx, verb, unit, began, err, "systemd refused")
	}
	result, err := s.wait(ctx, verb, unit, id, done)
	if err != nil {
		return s.jobFailed(ctx, verb, unit, began, err, "it did not end")
	}
	if result != "done" && result != "skipped" {
		return s.jobFailed(ctx, verb, unit, began, nil, "systemd says "+result)
	}
	return nil
}

// wait waits for the job's result. News of it can be lost with a connection, so the unit is looked at as well.
func (s *Systemd) wait(ctx context.Context, verb, unit string, id int, done <-chan string) (string, error) {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for over := false; ; {
		select {
		case result := <-done:
			return result, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-look.C:
		}
		state, err := s.Unit(ctx, unit)
		if err != nil {
			continue // Until the context ends: systemd may be executing itself anew.
		}
		if state.job == id {
			continue
		}
		if over { // The second time: the news had a second to come.
			return state.verdict(verb), nil
		}
		over = true
	}
}

func (s *Systemd) jobFailed(ctx context.Context, verb, unit string, began time.Time, err error, why string) error {
	var known *node.Failure
	if errors.Is(err, context.Canceled) || errors.As(err, &known) {
		return fmt.Errorf("%s of %s: %w", verb, unit, err)
	}
	// What is told about the failure must not fail with it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if state, e := s.Unit(ctx, unit); e == nil {
		if !state.Exists {
			why = "there is no such unit"
		} else {
			why += fmt.Sprintf(" (it is %s/%s, result %s, exit status %d)", state.Active, state.Sub, state.Result, state.ExecStatus)
		}
	}
	failure := node.ManualIntervention("ServiceFailed", err, "see journalctl -u "+unit+" on the host, mend the cause, then say refit retry",
		"%s of %s failed: %s", verb, unit, why)
	failure.LogTail = Tail(ctx, unit, began, tailLines)
	return failure
}
