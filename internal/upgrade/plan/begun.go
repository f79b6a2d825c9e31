package plan

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// bringOn brings on a node that has been claimed: cordon, drain, change, uncordon, free. While the operation is held, a host that is being changed comes to
// its end, and a node that was only being emptied is given back as it is.
func (d *deciding) bringOn(name string, held *hold) {
	n := d.nodes[name]
	if n == nil {
		// Gone is not done: the slot is free, and the checks of the control plane count the members that are left.
		d.do = append(d.do, Action{Kind: Free, Node: name, Reason: "the node has left the cluster"})
		return
	}
	hop := d.hopOf(n)
	order := d.order(n)
	switch {
	case order != nil && order.Spec.Permit == refitv1alpha1.PermitApply && !d.spentBeforeChange(n):
		d.followChange(n, hop, held)
	case order != nil && order.Spec.Permit == refitv1alpha1.PermitRollback:
		d.followRollback(n)
	case held != nil:
		d.giveBack(n, fmt.Sprintf("the operation is held (%s), and nothing was changed on it", held.wait.Reason))
	case d.skipped(n):
		d.giveBack(n, "it is left for later, and nothing was changed on it")
	default:
		d.prepare(n, hop)
	}
}

// spentBeforeChange says that the order to change was for a hop that the node has left behind, so a new one is due.
func (d *deciding) spentBeforeChange(n *cluster.Node) bool {
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
		if !n.IsReady() {
			d.wait(d.notReady(n, "it was put back"))
			return
		}
		d.giveBack(n, "it was put back")
	case refitv1alpha1.NodeFailed:
		switch {
		case d.op.Spec.Aborted:
			d.command(PutBack, n, hop, "the operation was aborted")
		case held == nil && d.op.Spec.Retry > d.order(n).Spec.Attempt:
			d.prepare(n, hop) // what was true before the first attempt may have changed
		default:
			d.wait(d.failedWait(n))
		}
	default:
		if d.lost(n) {
			d.wait(d.notReady(n, "being upgraded to "+version))
			return
		}
		if w := d.silent(n); w != nil {
			d.wait(*w)
			return
		}
		d.busy++
		d.wait(d.atWork(n, fmt.Sprintf("Upgrading %s to %s%s", n.Name, version, stepOf(n))))
	}
}

func (d *deciding) followRollback(n *cluster.Node) {
	switch d.phase(n) {
	case refitv1alpha1.NodeRolledBack, refitv1alpha1.NodeSucceeded:
		d.giveBack(n, "it was put back")
	case refitv1alpha1.NodeFailed:
		if order := d.order(n); d.op.Spec.Retry > order.Spec.Attempt {
			d.command(PutBack, n, d.hopOf(n), "a person asked to try again")
			return
		}
		// The node stays cordoned, and the operation says so instead of ending as if all were well.
		d.wait(d.failedWait(n))
	default:
		if d.lost(n) {
			d.wait(d.notReady(n, "being put back"))
			return
		}
		if w := d.silent(n); w != nil {
			d.wait(*w)
			return
		}
		d.busy++
		d.wait(d.atWork(n, fmt.Sprintf("Putting %s back%s", n.Name, stepOf(n))))
	}
}

// settle closes the work on a node that its agent has proven: the node itself must say so, and after a control plane node the rest of the control plane.
func (d *deciding) settle(n *cluster.Node, hop int) {
	version := d.plan.Hops[hop].Kubernetes
	switch {
	case !n.IsReady():
		d.wait(d.notReady(n, "at "+version))
		return
	case !d.at(n, hop):
		d.busy++
		d.wait(d.atWork(n, fmt.Sprintf("Waiting for %s to report %s", n.Name, version)))
		return
	}
	ours := n.CordonedBy == d.op.UID
	if n.ControlPlane && (!ours || !d.op.Spec.Aborted) { // an aborted operation leaves no cordon, whatever else is not well
		if w := d.firstClosed(settleGates, n, hop); w != nil {
			d.wait(*w)
			return
		}
	}
	if ours {
		d.act(Uncordon, n, "it is at %s and ready", version)
		return
	}
	d.act(Free, n, "it is at %s and ready", version)
}

// giveBack lifts our cordon and frees the slot. Before that it takes back the order that a change could follow on: a decider with an old view may still
// be about to write that change, and its drain would count from the time when this one began.
func (d *deciding) giveBack(n *cluster.Node, why string) {
	drain := d.drain(n)
	marked := drain != nil && (drain.Phase == refitv1alpha1.DrainSkipped || drain.Phase == refitv1alpha1.DrainFailed)
	switch {
	case d.phase(n) == refitv1alpha1.NodePrefetched && !marked:
		d.withhold(n, why)
	case n.CordonedBy == d.op.UID:
		d.act(Uncordon, n, "%s", why)
	default:
		d.act(Free, n, "%s", why)
	}
}

// withhold orders the node's agent to do nothing with what it was ordered last.
func (d *deciding) withhold(n *cluster.Node, why string) {
	order, a := d.order(n), d.act(Hold, n, "%s", why)
	a.Release, a.Role, a.Attempt, a.KeepAddons = &order.Spec.Release, order.Spec.Role, order.Spec.Attempt, order.Spec.KeepAddons
}

// lost says that the node of an agent with an order has not been ready for a long time, counted from when the agent began if it was not ready before.
func (d *deciding) lost(n *cluster.Node) bool {
	since := n.ReadySince
	if order := d.order(n); d.phase(n) != "" && order.Status.StartTime != nil && order.Status.StartTime.After(since) {
		since = order.Status.StartTime.Time
	}
	return !n.IsReady() && d.now.Sub(since) > patience
}

// prepare brings a claimed node to the point where its agent may change it.
func (d *deciding) prepare(n *cluster.Node, hop int) {
	if first := d.op.Active[0]; n.ControlPlane && first != n.Name && !d.changing(n) {
		d.giveBack(n, first+" was claimed before it, and a control plane node goes alone") // they would wait for each other for ever
		return
	}
	if n.CordonedBy != d.op.UID && !d.changing(n) {
		if w := d.firstClosed(beginGates, n, hop); w != nil {
			d.wait(*w)
			d.giveBack(n, "there is no slot for it any more") // two that wait for each other would wait for ever
			return
		}
	}
	if !d.prefetched(n, hop) {
		d.fetch(n, hop)
		return
	}
	if needsDrain(d.s, d.spec, n, d.plan.Hops[hop].Kubernetes) && !d.emptied(n) {
		return
	}
	if w := d.firstClosed(applyGates, n, hop); w != nil {
		d.wait(*w)
		return
	}
	why := "everything it needs is here and every gate is open"
	if d.changing(n) {
		why = "a person asked to try again, and every gate is open"
	}
	d.command(Apply, n, hop, why)
}

// emptied brings on the emptying of a node, and says whether it is empty and cordoned.
func (d *deciding) emptied(n *cluster.Node) bool {
	if !n.Unschedulable && !d.open["Cordoned"] {
		d.act(Cordon, n, "it is about to be emptied")
		return false
	}
	status := d.drain(n)
	moves := int32(0)
	if drain := d.drains.Node(n.Name); drain != nil {
		moves = drain.Moves
	}
	if status != nil && status.Phase == refitv1alpha1.DrainDrained && moves == 0 || d.open["Drained"] {
		return true
	}
	if status != nil && status.StartTime != nil && d.now.Sub(status.StartTime.Time) >= policy.DrainOf(d.spec, n).Timeout.Duration {
		d.overdue(n, status)
		return false
	}
	d.busy++
	d.act(Drain, n, "%s", haveToMove(moves))
	w := d.atWork(n, fmt.Sprintf("Draining %s%s", n.Name, blockersOf(status)))
	w.Reason = refitv1alpha1.ReasonDrainBlocked
	if status == nil || len(status.Blockers) == 0 {
		w.Reason = refitv1alpha1.ReasonProgressing
	}
	if status != nil && status.StartTime != nil {
		w.Until = status.StartTime.Add(policy.DrainOf(d.spec, n).Timeout.Duration)
	}
	d.wait(w)
	return false
}

// overdue does what the pool's policy says of a node that could not be emptied in time.
func (d *deciding) overdue(n *cluster.Node, status *refitv1alpha1.DrainStatus) {
	rules := policy.DrainOf(d.spec, n)
	late := fmt.Sprintf("it could not be emptied within %s%s", duration(rules.Timeout.Duration), blockersOf(status))
	onBlocked, why := rules.OnBlocked, "the pool says Wait"
	if d.changing(n) && onBlocked != refitv1alpha1.OnBlockedDelete {
		onBlocked, why = refitv1alpha1.OnBlockedWait, "it is half changed and cannot be left for later"
	}
	switch onBlocked {
	case refitv1alpha1.OnBlockedSkip:
		d.act(Skip, n, "%s; the pool says Skip", late)
	case refitv1alpha1.OnBlockedFail:
		d.act(GiveUp, n, "%s; the pool says Fail", late)
	case refitv1alpha1.OnBlockedDelete:
		d.act(Drain, n, "%s; the pool says Delete", late).Delete = true
		d.busy++
	case refitv1alpha1.OnBlockedWait:
		d.act(Drain, n, "%s; %s", late, why)
		d.wait(Wait{
			Reason: refitv1alpha1.ReasonDrainBlocked, Node: n.Name, Since: status.StartTime.Time, Person: true,
			Message: fmt.Sprintf("Draining %s takes longer than %s%s", n.Name, duration(rules.Timeout.Duration), blockersOf(status)),
			Remedy:  "make room for the pods that are named, or set the pool's drain.onBlocked to Skip, Fail or Delete",
		})
	}
}
