package plan

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func notReadyAfter(d *deciding, n *cluster.Node, hop int) *Wait {
	if n.IsReady() {
		return nil
	}
	w := d.notReady(n, "at "+d.plan.Hops[hop].Kubernetes)
	w.Remedy = orAbandon(n, w.Remedy)
	return &w
}

func versionNotReported(d *deciding, n *cluster.Node, hop int) *Wait {
	if d.at(n, hop) {
		return nil
	}
	w := d.inProgress(n, fmt.Sprintf("Waiting for %s to report %s", n.Name, d.plan.Hops[hop].Kubernetes))
	if order := d.order(n); order != nil && order.Status.CompletionTime != nil && d.now.Sub(order.Status.CompletionTime.Time) > interventionDelay {
		w.Reason, w.Since, w.ManualIntervention = refitv1alpha1.ReasonNodeUnavailable, order.Status.CompletionTime.Time, true
		w.Remedy = orAbandon(n, fmt.Sprintf("Check the kubelet of %s: `kubectl get node %[1]s -o wide; journalctl -u kubelet`", n.Name))
		return &w
	}
	d.busy++
	return &w
}

func notReadyAfterRollback(d *deciding, n *cluster.Node, _ int) *Wait {
	if n.IsReady() {
		return nil
	}
	w := d.notReady(n, "rolled back")
	w.Remedy = orAbandon(n, w.Remedy)
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
