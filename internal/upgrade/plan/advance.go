package plan

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// bringOn brings on a node that has been claimed: cordon, drain, change, uncordon, free. While the operation is held, a host that is being changed comes to
// its end, and a node that was only being emptied is given back as it is.
func (d *deciding) advance(name string, held *hold) {
	n := d.nodes[name]
	if n == nil {
		// Gone is not done: the slot is free, and the checks of the control plane count the members that are left.
		d.actions = append(d.actions, Action{Kind: ReleaseNode, Node: name, Reason: "the node has left the cluster"})
		return
	}
	hop := d.hopOf(n)
	order := d.order(n)
	switch {
	case order != nil && order.Spec.Permit == refitv1alpha1.PermitApply && !d.retriesAfterRollback(n):
		d.followChange(n, hop, held)
	case order != nil && order.Spec.Permit == refitv1alpha1.PermitRollback:
		d.followRollback(n, hop)
	case held != nil:
		d.release(n, fmt.Sprintf("the operation is held (%s), and nothing was changed on it", held.wait.Reason))
	case d.skipped(n):
		d.release(n, "it is left for later, and nothing was changed on it")
	default:
		d.prepare(n, hop)
	}
}

// spentBeforeChange says that the order to change was for a hop that the node has left behind, so a new one is due.
func (d *deciding) retriesAfterRollback(n *cluster.Node) bool {
	order := d.order(n)
	return d.phase(n) == refitv1alpha1.NodeRolledBack && order.Spec.Attempt < d.op.Spec.Retry
}

// hopOf is the hop that a claimed node is at work for: that of its order, else the one whose turn it is.
func (d *deciding) hopOf(n *cluster.Node) int {
	if order := d.order(n); order != nil {
		if hop, ok := d.orderedHop(order); ok {
			return hop
		}
	}
	turn := d.turn()
	if workers := d.workersHop(turn); !n.ControlPlane && workers >= 0 {
		return workers
	}
	return turn
}

// followChange follows a node whose agent was ordered to change it.
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
		d.release(n, "it was put back")
	case refitv1alpha1.NodeFailed:
		switch {
		case d.op.Spec.Aborted:
			d.command(Rollback, n, hop, "the operation was aborted")
		case held == nil && d.op.Spec.Retry > d.order(n).Spec.Attempt:
			d.prepare(n, hop) // what was true before the first attempt may have changed
		default:
			d.wait(d.failedWait(n))
		}
	default:
		if w := d.firstClosed(HeldProgress, n, hop); w != nil {
			d.wait(*w)
			return
		}
		d.busy++
		d.wait(d.inProgress(n, fmt.Sprintf("Upgrading %s to %s%s", n.Name, version, stepOf(n))))
	}
}

func (d *deciding) followRollback(n *cluster.Node, hop int) {
	switch d.phase(n) {
	case refitv1alpha1.NodeRolledBack, refitv1alpha1.NodeSucceeded:
		d.release(n, "it was put back")
	case refitv1alpha1.NodeFailed:
		if order := d.order(n); d.op.Spec.Retry > order.Spec.Attempt {
			d.command(Rollback, n, hop, "a person asked to try again")
			return
		}
		// The node stays cordoned, and the operation says so instead of ending as if all were well.
		d.wait(d.failedWait(n))
	default:
		if w := d.firstClosed(HeldProgress, n, hop); w != nil {
			d.wait(*w)
			return
		}
		d.busy++
		d.wait(d.inProgress(n, fmt.Sprintf("Putting %s back%s", n.Name, stepOf(n))))
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
	d.act(kind, n, "it is at %s and ready", d.plan.Hops[hop].Kubernetes)
}

// giveBack lifts our cordon and frees the slot. Before that it takes back the order that a change could follow on: a decider with an old view may still
// be about to write that change, and its drain would count from the time when this one began.
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

// withhold orders the node's agent to do nothing with what it was ordered last.
func (d *deciding) withdrawOrder(n *cluster.Node, why string) {
	order, a := d.order(n), d.act(Hold, n, "%s", why)
	a.Release, a.Role, a.Attempt, a.KeepAddons = &order.Spec.Release, order.Spec.Role, order.Spec.Attempt, order.Spec.KeepAddons
}

// prepare brings a claimed node to the point where its agent may change it.
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
	why := "everything it needs is here and every gate is open"
	if d.changing(n) {
		why = "a person asked to try again, and every gate is open"
	}
	d.command(Apply, n, hop, why)
}
