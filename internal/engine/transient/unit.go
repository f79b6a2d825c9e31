package transient

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// pollInterval is the interval between two observations of a unit. Events of systemd can be lost
// with a connection, so the state decides.
const pollInterval = 100 * time.Millisecond

// maxAttempts bounds the attempts to start a unit while systemd removes an earlier one.
const maxAttempts = 50

// Start starts a unit. It returns when systemd has accepted it, not when the process is ready.
func (s *Systemd) Start(ctx context.Context, u sandbox.Unit) error {
	if err := u.Validate(); err != nil {
		return err
	}
	for attempts := 1; ; attempts++ {
		err := s.with(ctx, func(conn bus) error {
			_, err := conn.StartTransientUnitContext(ctx, service(u.Name), "fail", properties(u), nil)
			return err
		})
		if err == nil {
			return nil
		}
		// systemd removes a stopped unit some time after it is inactive.
		if !unitExists(err) || attempts == maxAttempts {
			return failed("start", u.Name, err)
		}
		select {
		case <-ctx.Done():
			return failed("start", u.Name, errors.Join(context.Cause(ctx), err))
		case <-time.After(pollInterval):
		}
	}
}

// unitExists reports whether systemd still has a unit of this name.
func unitExists(err error) bool {
	refusal, ok := errors.AsType[dbus.Error](err)
	return ok && refusal.Name == "org.freedesktop.systemd1.UnitExists"
}

// Outcome returns the state of a unit that was started.
func (s *Systemd) Outcome(ctx context.Context, name string) (sandbox.Outcome, error) {
	var all map[string]any
	err := s.with(ctx, func(conn bus) (err error) {
		all, err = conn.GetAllPropertiesContext(ctx, service(name))
		return err
	})
	if err != nil {
		return sandbox.Outcome{}, failed("observe", name, err)
	}
	return outcome(all), nil
}

func outcome(all map[string]any) sandbox.Outcome {
	o := sandbox.Outcome{
		Result:     value[string](all, "Result"),
		ExitStatus: int(value[int32](all, "ExecMainStatus")),
		PeakMemory: value[uint64](all, "MemoryPeak"),
	}
	if o.PeakMemory == 0 || o.PeakMemory == ^uint64(0) { // not available before systemd 255
		o.PeakMemory = value[uint64](all, "MemoryCurrent")
	}
	if o.PeakMemory == ^uint64(0) {
		o.PeakMemory = 0
	}
	// A unit is inactive before systemd starts it, too.
	began := value[uint64](all, "InactiveExitTimestamp") > 0
	active := value[string](all, "ActiveState")
	removed := value[string](all, "LoadState") == "not-found"
	switch {
	case removed, active == "failed":
		o.Ended = true
	case active == "inactive":
		o.Ended = began
	case active == "active":
		o.Ended = value[string](all, "SubState") == "exited"
	}
	// A task that succeeds stays active until it is stopped, and a service does not end by itself.
	if o.Ended && o.Result == "success" && (removed || active == "inactive") {
		o.Result = sandbox.Stopped
	}
	return o
}

// value returns a property, or the zero value if the unit does not have it.
func value[T any](all map[string]any, name string) T {
	found, _ := all[name].(T)
	return found
}

// Wait waits until a unit ends, and returns its outcome.
func (s *Systemd) Wait(ctx context.Context, name string) (sandbox.Outcome, error) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		o, err := s.Outcome(ctx, name)
		if err == nil && o.Ended {
			return o, nil
		}
		select {
		case <-ctx.Done():
			return o, errors.Join(fmt.Errorf("waiting for %s: %w", name, context.Cause(ctx)), err)
		case <-ticker.C: // after an error, too: systemd may be re-executing itself
		}
	}
}

// Stop stops a unit, waits until its processes ended, and removes it from systemd. A unit that does
// not exist is not an error.
func (s *Systemd) Stop(ctx context.Context, name string) error {
	err := s.with(ctx, func(conn bus) error {
		_, err := conn.StopUnitContext(ctx, service(name), "replace", nil)
		return err
	})
	if err != nil && !noSuchUnit(err) {
		return failed("stop", name, err)
	}
	if err := s.waitStopped(ctx, name); err != nil {
		return err
	}
	err = s.with(ctx, func(conn bus) error { return conn.ResetFailedUnitContext(ctx, service(name)) })
	if err != nil && !noSuchUnit(err) {
		return failed("remove", name, err)
	}
	return nil
}

// waitStopped waits until no process of a unit is left. An ended task with RemainAfterExit is still
// active until it is stopped.
func (s *Systemd) waitStopped(ctx context.Context, name string) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		var all map[string]any
		err := s.with(ctx, func(conn bus) (err error) {
			all, err = conn.GetAllPropertiesContext(ctx, service(name))
			return err
		})
		switch value[string](all, "ActiveState") {
		case "inactive", "failed":
			return nil
		}
		select {
		case <-ctx.Done():
			return failed("stop", name, errors.Join(context.Cause(ctx), err))
		case <-ticker.C:
		}
	}
}

// noSuchUnit reports whether systemd does not have a unit.
func noSuchUnit(err error) bool {
	return strings.Contains(err.Error(), "not loaded") || strings.Contains(err.Error(), "not found")
}

// Names returns the units whose names begin with a prefix: those of this process, or leftovers of
// one that was killed.
func (s *Systemd) Names(ctx context.Context, prefix string) ([]string, error) {
	var names []string
	err := s.with(ctx, func(conn bus) error {
		found, err := conn.ListUnitsByPatternsContext(ctx, nil, []string{service(prefix + "*")})
		names = nil
		for _, unit := range found {
			if unit.LoadState != "not-found" {
				names = append(names, strings.TrimSuffix(unit.Name, ".service"))
			}
		}
		return err
	})
	if err != nil {
		return nil, failed("list units of", prefix, err)
	}
	return names, nil
}
