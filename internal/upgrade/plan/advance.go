package plan

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// advance takes a claimed node one step further: cordon, drain, change, uncordon, release. While
// the operation is held, a host that is being changed finishes, and a node that was only drained is
// released unchanged.
func (d *deciding) advance(name string, held *hold) {
	n := d.nodes[name]
	if n == nil {
		// A node that left is not done. Its slot is free; control plane gates count the remaining
		// members.
		d.actions = append(d.actions, Action{Kind: ReleaseNode, Node: name, Reason: "the node has left the cluster"})
		return
	}
	hop := d.hopOf(n)
	order := d.order(n)
	switch {
	case d.abandoned(n):
		d.abandon(n)
	case d.refusal(n) != nil:
		d.followRefused(n, hop, held)
	case order != nil && d.followsChange(n) && !d.retriesAfterRollback(n):
		d.followChange(n, hop, held)
	case order != nil && order.Spec.Permit == refitv1alpha1.PermitRollback:
		d.followRollback(n, hop)
	case order != nil && d.partlyChanged(n):
		d.followChange(n, hop, held)
	case d.at(n, hop) && !d.changing(n):
		d.settle(n, hop)
	case held != nil && order == nil && !d.op.Spec.Aborted:
		// A claimed node has had an order, so it was deleted: the agent may be changing the host.
		// The claim lasts until the operation continues and repeats the order.
		d.wait(held.wait)
	case held != nil:
		d.release(n, fmt.Sprintf("the operation is held (%s), and the node is unchanged", held.wait.Reason))
	case d.skipped(n):
		d.release(n, "it is skipped, and the node is unchanged")
	default:
		d.prepare(n, hop)
	}
}

// followsChange reports whether the node's agent changes its host, or has done so. It may under an
// order that does not permit it: a host that was disrupted is finished, also if the order that
// permitted it was lost in a restore of etcd.
func (d *deciding) followsChange(n *cluster.Node) bool {
	order := d.order(n)
	return order.Spec.Permit == refitv1alpha1.PermitApply && !d.takenForAnother(n) ||
		order.Spec.Permit != refitv1alpha1.PermitRollback && (changesHost(order.Status.Phase) || d.phase(n) == refitv1alpha1.NodeSucceeded)
}

// retriesAfterRollback reports whether the node was rolled back and the user has requested a retry.
func (d *deciding) retriesAfterRollback(n *cluster.Node) bool {
	order := d.order(n)
	return d.phase(n) == refitv1alpha1.NodeRolledBack && order.Spec.Attempt < d.op.Spec.Retry
}

// hopOf is the hop of a claimed node: that of its order, else the current one.
func (d *deciding) hopOf(n *cluster.Node) int {
	if order := d.order(n); order != nil {
		if hop, ok := d.orderedHop(order); ok {
			return hop
		}
	}
	turn := d.turn()
	if n.ControlPlane {
		return d.controlPlaneHop(turn)
	}
	if workers := d.workersHop(turn); workers >= 0 {
		return workers
	}
	return turn
}

// controlPlaneHop is the first hop, from another one on, in which the control plane moves: in the
// first one, workers may only catch up with it.
func (v *view) controlPlaneHop(from int) int {
	for _, stage := range v.plan.Stages {
		if stage.Name == refitv1alpha1.StageControlPlane && stage.Hop >= from {
			return stage.Hop
		}
	}
	return from
}

// followChange follows an agent that was ordered to change its node.
func (d *deciding) followChange(n *cluster.Node, hop int, held *hold) {
	version := d.plan.Hops[hop].Kubernetes
	switch d.phase(n) {
	case refitv1alpha1.NodeSucceeded:
		d.settle(n, hop)
	case refitv1alpha1.NodeRolledBack:
		if w := d.firstClosed(HeldRelease, n, hop); w != nil {
			d.wait(*w)
			return
		}
		d.release(n, "it was rolled back")
	case refitv1alpha1.NodeFailed:
		switch {
		case d.op.Spec.Aborted:
			d.command(Rollback, n, hop, "the operation was aborted")
		case held == nil && d.op.Spec.Retry > d.order(n).Spec.Attempt:
			d.prepare(n, hop) // conditions may have changed since the first attempt
		default:
			d.wait(d.failedWait(n))
		}
	default:
		if held != nil && d.unpermitted(n) {
			d.withdrawOrder(n, fmt.Sprintf("the operation is held (%s), and the node is unchanged", held.wait.Reason))
			return
		}
		if d.late(n) {
			d.withdrawOrder(n, "its change was not started in time, and the node is unchanged")
			return
		}
		if w := d.firstClosed(HeldProgress, n, hop); w != nil {
			d.wait(*w)
			return
		}
		what := fmt.Sprintf("Upgrading %s to %s", n.Name, version)
		if d.rollsBack(n) {
			what = "Rolling back " + n.Name
		}
		d.waitForAgent(n, what)
	}
}

func (d *deciding) followRollback(n *cluster.Node, hop int) {
	switch d.phase(n) {
	case refitv1alpha1.NodeRolledBack, refitv1alpha1.NodeSucceeded:
		d.release(n, "it was rolled back")
	case refitv1alpha1.NodeIdle, refitv1alpha1.NodePrefetching, refitv1alpha1.NodePrefetched:
		d.command(Rollback, n, hop, "its agent took the order for one that was deleted")
	case refitv1alpha1.NodeFailed:
		if order := d.order(n); d.op.Spec.Retry > order.Spec.Attempt {
			d.command(Rollback, n, hop, "retry was requested")
			return
		}
		// The node stays cordoned, and the operation reports it instead of ending.
		d.wait(d.failedWait(n))
	default:
		if w := d.firstClosed(HeldProgress, n, hop); w != nil {
			d.wait(*w)
			return
		}
		d.waitForAgent(n, "Rolling back "+n.Name)
	}
}

// settle ends the claim of a node whose agent has finished its change.
func (d *deciding) settle(n *cluster.Node, hop int) {
	if w := d.firstClosed(HeldSettle, n, hop); w != nil {
		d.wait(*w)
		return
	}
	kind := ReleaseNode
	if n.CordonedBy == d.op.UID {
		kind = Uncordon
	}
	d.act(kind, n, "it runs %s and is ready", d.plan.Hops[hop].Kubernetes)
}

// release uncordons a node and ends its claim. It first withdraws the order that a change could
// follow: a deposed leader may still be about to write that change, and the time of the next drain
// would count from the start of this one.
func (d *deciding) release(n *cluster.Node, why string) {
	drain := d.drain(n)
	marked := drain != nil && (drain.Phase == refitv1alpha1.DrainSkipped || drain.Phase == refitv1alpha1.DrainFailed)
	switch {
	case d.phase(n) == refitv1alpha1.NodePrefetched && !marked:
		d.withdrawOrder(n, why)
	case n.CordonedBy == d.op.UID:
		d.act(Uncordon, n, "%s", why)
	default:
		d.act(ReleaseNode, n, "%s", why)
	}
}

// withdrawOrder orders the node's agent to do nothing.
func (d *deciding) withdrawOrder(n *cluster.Node, why string) *Action {
	order, a := d.order(n), d.act(Hold, n, "%s", why)
	a.Release, a.Role, a.Attempt, a.KeepAddons = &order.Spec.Release, order.Spec.Role, order.Spec.Attempt, order.Spec.KeepAddons
	return a
}

// prepare takes a claimed node to the point where its agent may change it.
func (d *deciding) prepare(n *cluster.Node, hop int) {
	if w := d.firstClosed(HeldFirstDisruption, n, hop); w != nil {
		d.wait(*w)
		d.release(n, w.Message) // nodes that wait for each other would wait forever
		return
	}
	if w := d.firstClosed(HeldApply, n, hop); w != nil {
		d.wait(*w)
		return
	}
	why := "it is prepared, and every gate is open"
	if d.changing(n) {
		why = "retry was requested, and every gate is open"
	}
	d.command(Apply, n, hop, why)
}
