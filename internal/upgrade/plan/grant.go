package plan

import (
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// turn is the current hop: the first with a stage that is not complete.
func (d *deciding) turn() int {
	for i := range d.plan.Stages {
		if !d.complete(&d.plan.Stages[i]) {
			return d.plan.Stages[i].Hop
		}
	}
	return len(d.plan.Hops) - 1
}

// complete reports whether a stage has nothing left to do.
func (d *deciding) complete(stage *Stage) bool {
	kind := StageKindOf(stage.Name)
	return kind.complete(d, stage.Hop)
}

// grant starts what is new: the first stage that is not complete decides what. A control plane node
// that is being changed without a claim, as after a restore of etcd, comes before every stage.
func (d *deciding) grant() {
	unclaimed := func(n *cluster.Node) bool { return d.changing(n) && !d.active[n.Name] }
	if slices.ContainsFunc(d.controlPlane, unclaimed) {
		d.grantControlPlane(d.turn())
		return
	}
	for i := range d.plan.Stages {
		if stage := &d.plan.Stages[i]; !d.complete(stage) {
			kind := StageKindOf(stage.Name)
			kind.grant(d, stage.Hop)
			return
		}
	}
}

func (d *deciding) prefetchComplete(hop int) bool { return d.firstClosed(HeldHop, nil, hop) == nil }

func (d *deciding) controlPlaneSettled(hop int) bool { return d.allSettled(d.controlPlane, hop) }

func (d *deciding) workersSettled(hop int) bool {
	return !slices.ContainsFunc(d.workers, func(n *cluster.Node) bool { return !d.settled(n, hop) && !d.leftAtEnd(n, hop) })
}

func (d *deciding) never(int) bool { return false }

func (v *view) allSettled(nodes []*cluster.Node, hop int) bool {
	return !slices.ContainsFunc(nodes, func(n *cluster.Node) bool { return !v.settled(n, hop) })
}

// hopStarted reports whether a node was ordered to change in this hop, or to do anything in a later
// one.
func (v *view) hopStarted(hop int) bool {
	for _, nodes := range [][]*cluster.Node{v.controlPlane, v.workers} {
		for _, n := range nodes {
			order := v.order(n)
			if order == nil {
				continue
			}
			at, ok := v.orderedHop(order)
			// Workers prefetch for a later hop early. That starts no hop.
			if ok && (at == hop && wasApplied(order) || at > hop && n.ControlPlane) {
				return true
			}
		}
	}
	return false
}

// wasApplied reports whether an agent was ordered to change its host, also if it backs up etcd
// since.
func wasApplied(order *cluster.Upgrade) bool {
	return order.Spec.Permit == refitv1alpha1.PermitApply ||
		order.Spec.Permit == refitv1alpha1.PermitBackup && node.Disrupted(order.Status.Steps)
}

// orderedHop is the hop that an order is for.
func (v *view) orderedHop(order *cluster.Upgrade) (int, bool) {
	for hop := range v.plan.Hops {
		if r := v.plan.Hops[hop].Release; r != nil && *r == order.Spec.Release {
			return hop, true
		}
	}
	return 0, false
}

// finish ends the operation once nothing holds it.
func (d *deciding) finish(hop int) {
	if w := d.firstClosed(HeldFinish, nil, hop); w != nil {
		d.wait(*w)
		return
	}
	if d.withdrawPrefetches(hop) {
		return
	}
	all := "every node of the plan runs its version and is ready"
	if d.plan.componentsAlone() {
		all = "every component of the plan is at its version, and every node is ready"
	}
	d.leftBehindAtEnd = d.left(hop)
	d.actions = append(d.actions, Action{Kind: Finish, Reason: strings.TrimSuffix(all+"; "+d.leftBehindAtEnd, "; ")})
}

// endAborted withdraws the orders to prefetch, deletes backups that run, holds a component that is
// being changed, and ends the operation once no node is active. It first rolls back a host that is
// partly changed without a claim.
func (d *deciding) endAborted() {
	const aborted = "the operation was aborted"
	left := d.deleteBackups(aborted)
	left = d.withdrawComponents(aborted) || left
	for _, nodes := range [][]*cluster.Node{d.controlPlane, d.workers} {
		for _, n := range nodes {
			order := d.order(n)
			if order == nil || d.active[n.Name] {
				continue
			}
			switch {
			case d.partlyChanged(n) && order.Spec.Permit == refitv1alpha1.PermitRollback && !d.repeats(n):
				left = true
				d.wait(d.failedWait(n)) // its agent refuses to roll back
			case d.partlyChanged(n):
				d.command(Rollback, n, d.hopOf(n), aborted)
			case d.changing(n) && order.Spec.Permit == refitv1alpha1.PermitRollback:
				left = true
				d.followRollback(n, d.hopOf(n))
			case order.Spec.Permit == refitv1alpha1.PermitPrefetch:
				d.withdrawOrder(n, aborted)
			}
		}
	}
	if !left && d.firstClosed(HeldFinish, nil, len(d.plan.Hops)-1) == nil {
		d.actions = append(d.actions, Action{Kind: Finish, Reason: "the operation was aborted, and no node is active"})
	}
}
