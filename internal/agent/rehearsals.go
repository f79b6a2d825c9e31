package agent

import (
	"context"
	"os"

	"github.com/refit-dev/refit/internal/agent/backup"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/engine/transient"
)

// Rehearsals runs drills and rehearsals on this host. Close it.
type Rehearsals struct {
	*rehearsal.Runner

	units *transient.Systemd
}

// Close ends the connection to systemd.
func (r *Rehearsals) Close() { r.units.Close() }

// ConnectRehearsals connects to systemd. A host without ctr can remove what a drill left, and
// nothing else.
func ConnectRehearsals(ctx context.Context, s *settings.Settings, observer rehearsal.Observer) (*Rehearsals, error) {
	ctr, _ := host.LookPath("ctr")
	umount, _ := host.LookPath("umount")
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	units, err := transient.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &Rehearsals{units: units, Runner: &rehearsal.Runner{
		Units: units, Dir: s.RehearsalDir(), Agent: binary, Ctr: ctr, Umount: umount, Socket: s.CRISocket,
		Available: rehearsal.AvailableMemory, Timeouts: rehearsal.DefaultTimeouts(), Observer: observer,
	}}, nil
}

func (a *Agent) rehearsalRunner(ctx context.Context, observer rehearsal.Observer) (backup.Runner, error) {
	return ConnectRehearsals(ctx, &a.Settings, observer)
}

// rehearsalLeft reports whether the scratch directory exists, which is created before the first
// unit and removed after the last.
func (a *Agent) rehearsalLeft() bool { return rehearsalLeft(&a.Settings) }

func rehearsalLeft(s *settings.Settings) bool {
	_, err := os.Stat(s.RehearsalDir())
	return err == nil
}

// removeRehearsal removes the units, mounts and files of a drill that a killed agent left.
func removeRehearsal(ctx context.Context, s *settings.Settings) error {
	if !rehearsalLeft(s) {
		return nil
	}
	runner, err := ConnectRehearsals(ctx, s, rehearsal.Observer{})
	if err != nil {
		return err
	}
	defer runner.Close()
	return runner.Clean(ctx)
}
