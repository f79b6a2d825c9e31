package plan

import (
	"fmt"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func notReadyAfter(d *deciding, n *cluster.Node, hop int) *Wait {
	if n.IsReady() {
		return nil
	}
	w := d.notReady(n, "at "+d.plan.Hops[hop].Kubernetes)
	return &w
}

func versionNotReported(d *deciding, n *cluster.Node, hop int) *Wait {
	if d.at(n, hop) {
		return nil
	}
	d.busy++
	w := d.inProgress(n, fmt.Sprintf("Waiting for %s to report %s", n.Name, d.plan.Hops[hop].Kubernetes))
	return &w
}

func notReadyAfterRollback(d *deciding, n *cluster.Node, _ int) *Wait {
	if n.IsReady() {
		return nil
	}
	w := d.notReady(n, "rolled back")
	return &w
}

// controlPlaneUnhealthyAtEnd checks every control plane node once more. An aborted operation ends
// without that.
func controlPlaneUnhealthyAtEnd(d *deciding, _ *cluster.Node, hop int) *Wait {
	if d.op.Spec.Aborted {
		return nil
	}
	for _, n := range d.controlPlane {
		if w := d.firstClosed(HeldSettle, n, hop); w != nil {
			return w
		}
	}
	return nil
}

func somethingActive(d *deciding, _ *cluster.Node, _ int) *Wait {
	if len(d.active) == 0 && len(d.actions) == 0 {
		return nil
	}
	return &Wait{}
}
