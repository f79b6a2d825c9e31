package plan

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// abandon ends the claim of a node whose host does not come back. If it does after all, its agent
// finds the order to start nothing new, and the node is still cordoned: the host may be partly
// changed.
func (d *deciding) abandon(n *cluster.Node) {
	const why = "the user abandoned it"
	if order := d.order(n); order != nil && order.Spec.Permit != refitv1alpha1.PermitHold && n.Report != nil {
		d.withdrawOrder(n, why)
		return
	}
	d.act(ReleaseNode, n, why)
}

func (v *view) abandoned(n *cluster.Node) bool { return policy.Abandoned(&v.op.Spec, n.Name) }

// checkAgent is the remedy for an agent that does not respond.
func checkAgent(n *cluster.Node) string {
	return orAbandon(n, "Check that refit-agent runs on "+n.Name+": `systemctl status refit-agent; journalctl -u refit-agent`")
}

// orAbandon adds the last resort to the remedy for a host that does not respond.
func orAbandon(n *cluster.Node, remedy string) string {
	return fmt.Sprintf("%s. If the host does not come back, run `refit abandon %s`", remedy, n.Name)
}
