package agent

import (
	"context"
	"os"

	"github.com/refit-dev/refit/internal/agent/backup"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/engine/transient"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Rehearsals runs drills and rehearsals on this host. Close it.
type Rehearsals struct {
	*rehearsal.Runner

	units *transient.Systemd
}

// Close ends the connection to systemd.
func (r *Rehearsals) Close() { r.units.Close() }

// ConnectRehearsals connects to systemd and finds the client of containerd.
func ConnectRehearsals(ctx context.Context, s *settings.Settings, observer rehearsal.Observer) (*Rehearsals, error) {
	ctr, err := host.LookPath("ctr")
	if err != nil {
		return nil, node.ManualIntervention("CtrMissing", err, "Install ctr, which is part of containerd. To upgrade without a proven backup, waive BackupProven",
			"drills need the client of containerd")
	}
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	units, err := transient.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &Rehearsals{units: units, Runner: &rehearsal.Runner{
		Units: units, Dir: s.RehearsalDir(), Agent: binary, Ctr: ctr, Socket: s.CRISocket,
		Available: rehearsal.AvailableMemory, Timeouts: rehearsal.DefaultTimeouts(), Observer: observer,
	}}, nil
}

func (a *Agent) rehearsalRunner(ctx context.Context, observer rehearsal.Observer) (backup.Runner, error) {
	return ConnectRehearsals(ctx, &a.Settings, observer)
}

// rehearsalLeft reports whether the scratch directory exists, which is created before the first
// unit and removed after the last.
func (a *Agent) rehearsalLeft() bool {
	_, err := os.Stat(a.Settings.RehearsalDir())
	return err == nil
}
