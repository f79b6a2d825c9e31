package agent

import (
	"context"
	"sync"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/report"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// reportState is the part of the agent's state that reports contain. Upgrades change it
// concurrently.
type reportState struct {
	mu     sync.Mutex
	state  node.HostState
	wanted *report.Wanted
	cache  *report.Cache
}

// updateReportState copies the agent's state for reports.
func (a *Agent) updateReportState() {
	a.reportState.mu.Lock()
	defer a.reportState.mu.Unlock()
	a.reportState.state, a.reportState.wanted = a.state, nil
	if a.upgrade != nil {
		blobs, err := a.upgrade.host.Blobs()
		if err != nil {
			a.Log.Warn("cannot determine what this host needs from the ClusterRelease", "error", err)
		}
		upgrade := &a.upgrade.host.Upgrade
		a.reportState.wanted = &report.Wanted{
			Ref: upgrade.Release, Release: a.upgrade.host.Release, Store: a.store, Blobs: blobs, ImagesOnly: upgrade.ImagesOnly,
		}
	}
}

// facts gathers the facts of the host.
func (a *Agent) facts(ctx context.Context) refitv1alpha1.NodeReportStatus {
	a.reportState.mu.Lock()
	state, wanted := a.reportState.state, a.reportState.wanted
	a.reportState.mu.Unlock()
	return report.Gather(ctx, report.Sources{
		AgentVersion: a.Version, NodeName: a.client.NodeName(), Settings: a.Settings, State: state, Keys: a.keyIDs(),
		ControlPlane: steps.HasControlPlane(), Release: wanted, API: a.client, Parts: a.installedParts, Unit: a.systemd.Unit, Cache: a.reportState.cache,
	})
}
