package agent

import (
	"context"
	"sync"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/report"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// known is what a report says of the agent's own state. The work changes it while reports are made.
type known struct {
	mu     sync.Mutex
	memory node.HostState
	wanted *report.Wanted
	cache  *report.Cache
}

// know hands the agent's state over to the reports.
func (a *Agent) know() {
	a.known.mu.Lock()
	defer a.known.mu.Unlock()
	a.known.memory, a.known.wanted = a.memory, nil
	if a.work != nil {
		blobs, err := a.work.host.Blobs()
		if err != nil {
			a.Log.Warn("what this host needs of the ClusterRelease cannot be told", "error", err)
		}
		a.known.wanted = &report.Wanted{Ref: a.work.host.Upgrade.Release, Release: a.work.host.Release, Store: a.store, Blobs: blobs}
	}
}

// facts looks at the host.
func (a *Agent) facts(ctx context.Context) refitv1alpha1.NodeReportStatus {
	a.known.mu.Lock()
	memory, wanted := a.known.memory, a.known.wanted
	a.known.mu.Unlock()
	var keys []string
	for _, key := range a.keys {
		keys = append(keys, key.ID)
	}
	return report.Gather(ctx, report.Sources{
		AgentVersion: a.Version, NodeName: a.client.NodeName(), Settings: a.Settings, State: memory, Keys: keys,
		ControlPlane: steps.HasControlPlane(), Release: wanted, API: a.client, Unit: a.systemd.Unit, Cache: a.known.cache,
	})
}
