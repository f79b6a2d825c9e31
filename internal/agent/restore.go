package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/agent/restore"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// readState reads the state of the agent on this host. It always restores the control plane first:
// an agent that waits or refuses to run must not leave the host without one.
func (a *Agent) readState() error {
	_, missing := os.Lstat(a.Settings.StateFile())
	err := a.loadTrusted()
	if err != nil || errors.Is(missing, fs.ErrNotExist) {
		a.restoreInterrupted()
		return err
	}
	if a.state.Open == "" || a.restoresEtcd() {
		return nil
	}
	if err := a.restoreControlPlane(); err != nil {
		a.Log.Error("cannot restore the manifests of the control plane from the journal", "error", err)
		a.restoreInterrupted()
	}
	return nil
}

// restoresEtcd reports whether an open restore of etcd has moved manifests away. It moves them back
// itself: an API server must not start before.
func (a *Agent) restoresEtcd() bool {
	site := restore.Site{Dir: a.Settings.RestoresDir(), MachineID: a.id.MachineID}
	_, open, err := site.Open()
	return open && err == nil
}

func (a *Agent) loadTrusted() error {
	if err := checkStateOwner(a.Settings); err != nil {
		return err
	}
	if err := adoptFormerNames(a.Settings); err != nil {
		return err
	}
	state, err := loadState(a.Settings.StateFile(), a.id.MachineID)
	if err == nil {
		a.state = state
	}
	return err
}

// restoreControlPlane restores the manifests that the open upgrade has removed, by its journal. It
// needs neither the ClusterRelease nor systemd.
func (a *Agent) restoreControlPlane() error {
	records, err := journal.Read(a.journalFile(a.state.Open), a.id.MachineID)
	if err != nil {
		return err
	}
	state := node.Read(records)
	h := a.restingHost()
	h.Upgrade, h.Dir = *state.Upgrade, filepath.Join(a.Settings.UpgradesDir(), a.state.Open)
	return h.RestoreControlPlane(state)
}

// restoreInterrupted restores the manifests without a journal.
func (a *Agent) restoreInterrupted() {
	if err := a.restingHost().RestoreInterrupted(); err != nil {
		a.Log.Error("cannot restore the manifests of the control plane", "error", err)
	}
}

func (a *Agent) restingHost() *steps.Host {
	return &steps.Host{Settings: a.Settings, Log: a.Log, Effect: effectOf("rest")}
}
