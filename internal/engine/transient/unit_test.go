package transient

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/coreos/go-systemd/v22/dbus"
	godbus "github.com/godbus/dbus/v5"

	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// fakeBus is a systemd whose units pass through the listed states, one per observation.
type fakeBus struct {
	lost    bool // the connection is lost at the next call
	started []string
	exists  int // attempts to start that systemd refuses because the unit exists
	states  []map[string]any
	stopped []string
	reset   []string
	stopErr error
	units   []dbus.UnitStatus
}

func (f *fakeBus) StartTransientUnitContext(_ context.Context, name, _ string, _ []dbus.Property, _ chan<- string) (int, error) {
	if f.exists--; f.exists >= 0 {
		return 0, godbus.Error{Name: "org.freedesktop.systemd1.UnitExists", Body: []any{"unit was already loaded"}}
	}
	f.started = append(f.started, name)
	return 1, nil
}

func (f *fakeBus) StopUnitContext(_ context.Context, name, _ string, _ chan<- string) (int, error) {
	f.stopped = append(f.stopped, name)
	return 1, f.stopErr
}

func (f *fakeBus) ResetFailedUnitContext(_ context.Context, name string) error {
	f.reset = append(f.reset, name)
	return f.stopErr
}

func (f *fakeBus) GetAllPropertiesContext(context.Context, string) (map[string]any, error) {
	if f.lost {
		return nil, errors.New("connection closed")
	}
	state := f.states[0]
	if len(f.states) > 1 {
		f.states = f.states[1:]
	}
	return state, nil
}

func (f *fakeBus) ListUnitsByPatternsContext(_ context.Context, _, patterns []string) ([]dbus.UnitStatus, error) {
	if !slices.Equal(patterns, []string{"refit-rehearsal-*.service"}) {
		return nil, errors.New("unexpected pattern")
	}
	return f.units, nil
}

func (f *fakeBus) Connected() bool { return !f.lost }
func (f *fakeBus) Close()          {}

func on(f *fakeBus) *Systemd {
	return &Systemd{connect: func(context.Context) (bus, error) { return f, nil }}
}

func state(active, sub, result string, status int32) map[string]any {
	return map[string]any{
		"LoadState": "loaded", "ActiveState": active, "SubState": sub, "Result": result, "ExecMainStatus": status, "MemoryPeak": ^uint64(0),
		"InactiveExitTimestamp": uint64(1),
	}
}

// queued is a unit that systemd has accepted and not started yet.
var queued = map[string]any{"LoadState": "loaded", "ActiveState": "inactive", "SubState": "dead", "Result": "success", "InactiveExitTimestamp": uint64(0)}

func TestWaitReturnsTheOutcomeOfATask(t *testing.T) {
	for name, c := range map[string]struct {
		states []map[string]any
		want   sandbox.Outcome
	}{
		"success": {
			[]map[string]any{state("activating", "start", "success", 0), state("active", "exited", "success", 0)},
			sandbox.Outcome{Ended: true, Result: "success"},
		},
		"not started yet": {
			[]map[string]any{queued, state("activating", "start", "success", 0), state("active", "exited", "success", 0)},
			sandbox.Outcome{Ended: true, Result: "success"},
		},
		"service that ended": {
			[]map[string]any{queued, state("active", "running", "success", 0), state("inactive", "dead", "success", 0)},
			sandbox.Outcome{Ended: true, Result: "stopped"},
		},
		"exit status": {
			[]map[string]any{state("activating", "start", "success", 0), state("failed", "failed", "exit-code", 2)},
			sandbox.Outcome{Ended: true, Result: "exit-code", ExitStatus: 2},
		},
		"out of memory": {
			[]map[string]any{state("active", "running", "success", 0), state("failed", "failed", "oom-kill", 9)},
			sandbox.Outcome{Ended: true, Result: "oom-kill", ExitStatus: 9},
		},
		"task that was stopped": {
			[]map[string]any{state("activating", "start", "success", 0), state("inactive", "dead", "success", 0)},
			sandbox.Outcome{Ended: true, Result: "stopped"},
		},
		"collected": {
			[]map[string]any{{"LoadState": "not-found", "Result": "success"}},
			sandbox.Outcome{Ended: true, Result: "stopped"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := on(&fakeBus{states: c.states}).Wait(t.Context(), "refit-rehearsal-task")
				if err != nil || got != c.want {
					t.Errorf("%+v, %v", got, err)
				}
			})
		})
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), pollInterval*3)
		defer cancel()
		_, err := on(&fakeBus{states: []map[string]any{state("active", "running", "success", 0)}}).Wait(ctx, "refit-rehearsal-etcd")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestLostConnectionIsReplaced(t *testing.T) {
	lost, open := &fakeBus{}, &fakeBus{states: []map[string]any{state("active", "running", "success", 0)}}
	s := &Systemd{conn: lost, connect: func(context.Context) (bus, error) { return open, nil }}
	lost.lost = true
	if o, err := s.Outcome(t.Context(), "refit-rehearsal-etcd"); err != nil || o.Ended {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestStopRemovesFailedUnits(t *testing.T) {
	f := &fakeBus{states: []map[string]any{state("failed", "failed", "exit-code", 1)}}
	if err := on(f).Stop(t.Context(), "refit-rehearsal-etcd"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"refit-rehearsal-etcd.service"}; !slices.Equal(f.stopped, want) || !slices.Equal(f.reset, want) {
		t.Errorf("stopped %v, reset %v", f.stopped, f.reset)
	}
}

func TestStopOfAMissingUnitSucceeds(t *testing.T) {
	f := &fakeBus{states: []map[string]any{{"LoadState": "not-found", "ActiveState": "inactive"}}}
	f.stopErr = errors.New("unit refit-rehearsal-etcd.service not loaded")
	if err := on(f).Stop(t.Context(), "refit-rehearsal-etcd"); err != nil {
		t.Error(err)
	}
}

func TestInvalidUnitIsNotStarted(t *testing.T) {
	f := &fakeBus{}
	u := etcd()
	u.Bounds.Time = 0
	if err := on(f).Start(t.Context(), u); err == nil || !strings.Contains(err.Error(), "time bound") || len(f.started) > 0 {
		t.Errorf("%v, started %v", err, f.started)
	}
}

// systemd removes a stopped unit asynchronously, and refuses another of its name until then.
func TestStartAfterAUnitOfTheSameName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeBus{exists: 3}
		if err := on(f).Start(t.Context(), etcd()); err != nil || len(f.started) != 1 {
			t.Errorf("%v, started %v", err, f.started)
		}
		f.exists = maxAttempts
		if err := on(f).Start(t.Context(), etcd()); err == nil || len(f.started) != 1 {
			t.Errorf("%v, started %v", err, f.started)
		}
	})
}

func TestNamesFindsLeftovers(t *testing.T) {
	f := &fakeBus{units: []dbus.UnitStatus{
		{Name: "refit-rehearsal-etcd.service", LoadState: "loaded"}, {Name: "refit-rehearsal-gone.service", LoadState: "not-found"},
	}}
	names, err := on(f).Names(t.Context(), "refit-rehearsal-")
	if err != nil || !slices.Equal(names, []string{"refit-rehearsal-etcd"}) {
		t.Errorf("%v, %v", names, err)
	}
}
