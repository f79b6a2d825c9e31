package host

import (
	"context"
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/dbus"
)

// Unit is the state of a systemd unit.
type Unit struct {
	Exists   bool
	Load     string // loaded, masked, not-found, bad-setting, …
	Active   string // active, activating, failed, inactive, …
	Sub      string // running, auto-restart, dead, …
	Result   string // of the last run: success, exit-code, oom-kill, …
	Restarts int    // by systemd itself, since the unit was last started
	MainPID  int
	// ExecStatus is the exit status, or signal, of the last main process that ended.
	ExecStatus int
	// ExecStart is the first command of the unit and its drop-ins, without variable expansion.
	// Executable is the file that it starts, which the first argument need not name.
	ExecStart  []string
	Executable string
	// Stale is set if its files were changed since systemd read them.
	Stale            bool
	FragmentPath     string
	DropIns          []string
	EnvironmentFiles []string // without the dash of those that may be absent
	Environment      []string // may contain secrets
	ActiveSince      time.Time

	job int
}

// Unit returns the state of a unit. A unit that does not exist is not an error.
func (s *Systemd) Unit(ctx context.Context, unit string) (Unit, error) {
	var all map[string]any
	err := s.with(ctx, func(conn *dbus.Conn) (err error) {
		all, err = conn.GetAllPropertiesContext(ctx, unit)
		return err
	})
	if err != nil {
		return Unit{}, fmt.Errorf("cannot query systemd for %s: %w", unit, err)
	}
	return unitOf(all), nil
}

func unitOf(all map[string]any) Unit {
	u := Unit{
		Load:   property[string](all, "LoadState"),
		Active: property[string](all, "ActiveState"),
		Sub:    property[string](all, "SubState"),
		Result: property[string](all, "Result"),

		Restarts:   int(property[uint32](all, "NRestarts")),
		MainPID:    int(property[uint32](all, "MainPID")),
		ExecStatus: int(property[int32](all, "ExecMainStatus")),

		Stale:        property[bool](all, "NeedDaemonReload"),
		FragmentPath: property[string](all, "FragmentPath"),
		DropIns:      property[[]string](all, "DropInPaths"),
		Environment:  property[[]string](all, "Environment"),
	}
	u.Exists = u.Load != "" && u.Load != "not-found"
	if since := property[uint64](all, "ActiveEnterTimestamp"); since > 0 {
		u.ActiveSince = time.UnixMicro(int64(since))
	}
	for _, file := range property[[][]any](all, "EnvironmentFiles") { // (path, may be absent)
		if len(file) > 0 {
			if path, ok := file[0].(string); ok {
				u.EnvironmentFiles = append(u.EnvironmentFiles, path)
			}
		}
	}
	if commands := property[[][]any](all, "ExecStart"); len(commands) > 0 && len(commands[0]) > 1 { // (path, arguments, …)
		u.Executable, _ = commands[0][0].(string)
		u.ExecStart, _ = commands[0][1].([]string)
	}
	if job := property[[]any](all, "Job"); len(job) > 0 { // (number, path)
		id, _ := job[0].(uint32)
		u.job = int(id)
	}
	return u
}

// property returns a property, or the zero value if the type of unit does not have it.
func property[T any](all map[string]any, name string) T {
	value, _ := all[name].(T)
	return value
}

// verdict derives the result of a job from the state of its unit.
func (u Unit) verdict(verb string) string {
	switch {
	case u.Active == "failed":
		return "failed"
	case verb == "stop" && u.Active != "inactive":
		return "failed"
	case verb != "stop" && u.Active != "active" && (u.Active != "inactive" || u.Result != "success"):
		return "failed"
	default:
		return "done"
	}
}
