package plan

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

func (m *planner) prefetchReason(p *Plan, _ int) string {
	if p.componentsAlone() {
		return "every node fetches and verifies the images of components before one is changed; nodes are not drained or restarted"
	}
	return "every node fetches and verifies its files and images before anything is disrupted"
}

func (m *planner) controlPlaneReason(*Plan, int) string {
	parts := "etcd, API server, controller manager and scheduler, kubelet"
	if m.snapshot.ExternalEtcd() == cluster.Yes {
		parts = "API server, controller manager and scheduler, kubelet"
	}
	if len(m.controlPlane) == 1 {
		return parts + "; the API is unavailable while its only server is replaced"
	}
	return "one node after the other: " + parts
}

func (m *planner) workersReason(p *Plan, hop int) string {
	skipped := 0
	for i := hop - 1; i >= 0 && !m.path.WorkersFollow[i]; i-- {
		skipped++
	}
	switch {
	case m.spec.Scope == refitv1alpha1.ScopeWorkers:
		return "the control plane runs " + p.From + " already"
	case hop < len(p.Hops)-1:
		return fmt.Sprintf("workers at %s would be more than %d minor versions older than the next version of the control plane",
			p.WorkersFrom, skew.KubeletMinorsBehind)
	case skipped > 0:
		return fmt.Sprintf("once, after the last of %d hops: a kubelet may be up to %d minor versions older than its API server",
			len(p.Hops), skew.KubeletMinorsBehind)
	}
	return "after the control plane, since a kubelet may never be newer than its API server"
}

func (m *planner) verifyReason(*Plan, int) string {
	return "every node is ready at its version, every API server is ready, no cordon of Refit is left"
}
