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

// Systemd is a connection to systemd's private socket, which works without a D-Bus daemon.
type Systemd struct {
	mu   sync.Mutex
	conn *dbus.Conn
	stop context.CancelFunc
}

// ConnectSystemd connects to systemd. The context applies to connecting only. systemd sends all its
// events to each connection, so close one that is not needed.
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

// connection returns an open connection. systemd drops all connections when it re-executes itself.
func (s *Systemd) connection(ctx context.Context) (*dbus.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil && s.conn.Connected() {
		return s.conn, nil
	}
	s.hangUp()
	// The library closes a connection with its context, so the context must outlive the caller's.
	own, stop := context.WithCancel(context.WithoutCancel(ctx))
	abandon := context.AfterFunc(ctx, stop)
	conn, err := dbus.NewSystemdConnectionContext(own)
	if err == nil && !abandon() {
		conn.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		stop()
		return nil, node.Transient("SystemdUnreachable", err, "Check systemd (`systemctl status`); if it does not respond, reboot the host",
			"cannot connect to systemd")
	}
	s.conn, s.stop = conn, stop
	return conn, nil
}

// with calls systemd and retries once if the connection was lost.
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
		return fmt.Errorf("cannot reload the units of systemd: %w", err)
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

// resetFailed resets the start limit of a unit, so that a rollback can start it. It ignores errors:
// the start itself reports them.
func (s *Systemd) resetFailed(ctx context.Context, unit string) {
	_ = s.with(ctx, func(conn *dbus.Conn) error { return conn.ResetFailedUnitContext(ctx, unit) })
}

// Stop stops a unit and waits until systemd is done with it.
func (s *Systemd) Stop(ctx context.Context, unit string) error {
	return s.job(ctx, "stop", unit, (*dbus.Conn).StopUnitContext)
}

type jobFunc func(conn *dbus.Conn, ctx context.Context, unit, mode string, done chan<- string) (int, error)

// job starts a job and waits until it ends. The end of the context does not stop the job.
func (s *Systemd) job(ctx context.Context, verb, unit string, ask jobFunc) error {
	began := time.Now()
	done := make(chan string, 2) // The library blocks until the channel is read.
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
		return s.jobFailed(ctx, verb, unit, began, nil, "the result is "+result)
	}
	return nil
}

// wait waits for the result of a job. The event can be lost with a connection, so it polls the unit
// as well.
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
			continue // systemd may be re-executing itself.
		}
		if state.job == id {
			continue
		}
		if over { // The event had a second to arrive.
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
	// The details of the failure must not depend on the expired context.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if state, e := s.Unit(ctx, unit); e == nil {
		if !state.Exists {
			why = "there is no such unit"
		} else {
			why += fmt.Sprintf(" (it is %s/%s, result %s, exit status %d)", state.Active, state.Sub, state.Result, state.ExecStatus)
		}
	}
	failure := node.ManualIntervention("ServiceFailed", err, "Read its log on the host: `journalctl -u "+unit+"`, fix the cause, then run `refit retry`",
		"%s of %s failed: %s", verb, unit, why)
	failure.LogTail = Tail(ctx, unit, began, tailLines)
	return failure
}
