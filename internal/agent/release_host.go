package agent

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// releaseHost removes what an upgrade needed while it was open. A successful one has swapped all
// staged manifests.
func (a *Agent) releaseHost(outcome refitv1alpha1.NodePhase) {
	if err := steps.ReleaseReserve(a.Settings); err != nil {
		a.Log.Warn("cannot release the reserved disk space", "error", err)
	}
	if outcome == refitv1alpha1.NodeSucceeded {
		return
	}
	if err := steps.DiscardStagedManifests(); err != nil {
		a.Log.Warn("cannot remove the staged manifests", "error", err)
	}
}

// unfinished reports whether the host has changes of an open upgrade. They stay on it, whatever
// became of its Node: one that was deleted and registered again has another UID.
func (r *runner) unfinished() bool {
	state := node.Read(r.journal.Records())
	return state.Outcome == "" && state.Changed()
}

// leaveIfRejoined ends the open upgrade of a host that has another Node in another cluster.
func (a *Agent) leaveIfRejoined(identity node.Identity) error {
	w := a.upgrade
	if w == nil || w.host.Upgrade.NodeUID == identity.NodeUID || !w.unfinished() || sameCluster(&w.host.Upgrade, steps.ClusterCA()) {
		return nil
	}
	a.upgrade = nil
	return a.leaveCluster(w)
}

// leaveCluster ends the upgrade of a cluster that the host has left. readState has restored the
// control plane. The result is reported: if only the CA was replaced, the controllers wait for it.
func (a *Agent) leaveCluster(upgrade *runner) error {
	changed := upgrade.unfinished()
	if err := upgrade.journal.Close(); err != nil {
		a.Log.Warn("cannot close the journal of the former cluster", "error", err)
	}
	operation := upgrade.host.Upgrade.Operation.Name
	a.Log.Warn("this host joined another cluster; ignoring the upgrade of the former one", "operation", operation)
	if a.state.Open != "" {
		a.releaseHost(refitv1alpha1.NodeFailed)
		failure := node.ManualIntervention("ClusterChanged", nil,
			"Run `refit retry`, which upgrades the host from its current state; or check the versions on the host and accept it as it is: "+
				"`systemctl stop refit-agent`, `refit-agent forget`, `systemctl start refit-agent`, then run `refit retry`",
			"the upgrade by operation %s is not resumed: the host has another cluster CA than at its start", operation)
		if changed {
			a.state.Unresumed = failure.Persistent()
		}
		a.state.Result = &node.Result{Sequence: a.state.Sequence, Phase: refitv1alpha1.NodeFailed, Failure: failure.Persistent(), At: time.Now().UTC()}
	}
	a.state.Open, a.state.Last = "", ""
	a.status.setHost(a.state)
	a.status.setResult(a.state.Result)
	return saveState(a.Settings.StateFile(), a.state)
}
