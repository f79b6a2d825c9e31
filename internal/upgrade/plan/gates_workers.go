package plan

import (
	"fmt"
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// controlPlaneActive holds workers while a control plane node is changed: a worker that joins late
// can reopen a stage that was complete, and a host that is rolled back runs an API server that is
// older than their kubelets.
func controlPlaneActive(d *deciding, n *cluster.Node, _ int) *Wait {
	for _, other := range d.servers { // an abandoned one is active until it is released
		if d.active[other.Name] || slices.Contains(d.controlPlane, other) && d.changing(other) {
			message := fmt.Sprintf("%s waits for control plane node %s", n.Name, other.Name)
			return &Wait{Reason: refitv1alpha1.ReasonProgressing, Node: n.Name, Message: message}
		}
	}
	return d.otherServerChanging(n)
}

// workerNotReady lets a node pass that the operation left partly changed: it becomes ready when it
// is finished.
func workerNotReady(d *deciding, n *cluster.Node, _ int) *Wait {
	if n.IsReady() || d.changing(n) {
		return nil
	}
	w := d.notReady(n, "to be upgraded")
	return &w
}

// kubeletTooNew compares with every API server: a load balancer may direct the kubelet to any of
// them.
func kubeletTooNew(d *deciding, n *cluster.Node, hop int) *Wait {
	want := d.targets[hop]
	for _, server := range d.servers {
		if v := d.serverVersion(server); v.IsZero() || v.MinorsBehind(want) > 0 {
			return &Wait{
				Reason: refitv1alpha1.ReasonSkew, Node: n.Name, ManualIntervention: true,
				Message: fmt.Sprintf("The API server on %s runs %s, and a kubelet at %s would be newer", server.Name, orUnknown(v), want),
				Remedy:  "Upgrade the control plane first",
			}
		}
	}
	return nil
}

func anotherZonesTurn(d *deciding, n *cluster.Node, _ int) *Wait {
	turn := &d.window.zones[d.pools[n.Name]]
	if !turn.set {
		*turn = zoneTurn{set: true, zone: n.Zone}
	}
	if turn.zone == n.Zone {
		return nil
	}
	return &Wait{Reason: refitv1alpha1.ReasonProgressing, Node: n.Name, Message: fmt.Sprintf("Zone %s waits for zone %s", n.Zone, turn.zone)}
}

func canaryNotProven(d *deciding, n *cluster.Node, _ int) *Wait {
	pool := d.pools[n.Name]
	rules, c := d.spec.Pools[pool].Canary, &d.window.canaries[pool]
	if rules == nil || c.proven || c.started < int(rules.Nodes) {
		return nil
	}
	if c.wait != nil {
		return c.wait
	}
	return &Wait{Reason: refitv1alpha1.ReasonProgressing, Node: n.Name, Message: fmt.Sprintf("Pool %s waits for its canary", d.spec.Pools[pool].Name)}
}

// canary returns the state of a pool's canary. It is proven once this operation has upgraded as
// many nodes as the policy requires and they have been healthy for the soak.
func (d *deciding) canary(pool, hop int) canary {
	rules := d.spec.Pools[pool].Canary
	if rules == nil {
		return canary{proven: true}
	}
	var out canary
	var finished []time.Time
	for _, n := range d.workers {
		if d.pools[n.Name] != pool {
			continue
		}
		order := d.order(n)
		switch {
		case d.active[n.Name]:
			out.started++
		case d.succeeded(n, hop):
			out.started++
			if !d.settled(n, hop) || order.Status.CompletionTime == nil {
				continue // it became unhealthy, which is what a canary detects
			}
			since := d.completed(n) // healthy since then, without interruption
			if ready := d.past(n.ReadySince); ready.After(since) {
				since = ready
			}
			finished = append(finished, since)
		}
	}
	if len(finished) < int(rules.Nodes) {
		return out
	}
	slices.SortFunc(finished, time.Time.Compare)
	since := finished[rules.Nodes-1]
	until := since.Add(rules.Soak.Duration)
	out.proven = !d.now.Before(until)
	out.wait = &Wait{
		Reason: refitv1alpha1.ReasonProgressing, Since: since, Until: until,
		Message: fmt.Sprintf("The canary of pool %s must be healthy for %s", d.spec.Pools[pool].Name, duration(rules.Soak.Duration)),
	}
	return out
}

// succeeded reports whether this operation has upgraded the node in a hop. The order may have been
// withdrawn while its agent was changing the host.
func (v *view) succeeded(n *cluster.Node, hop int) bool {
	order, release := v.order(n), v.plan.Hops[hop].Release
	return order != nil && release != nil && order.Spec.Release == *release && v.phase(n) == refitv1alpha1.NodeSucceeded
}

// noSlot counts every unavailable node of the pool, whatever the cause. A node that is unavailable
// already needs no further slot.
func noSlot(d *deciding, n *cluster.Node, _ int) *Wait {
	pool := d.pools[n.Name]
	limit := policy.MaxUnavailable(&d.spec.Pools[pool], d.counts[pool].size)
	if d.window.unavailable[pool] < limit || (d.unavailable(n) && d.window.unavailable[pool] <= limit) {
		return nil
	}
	return d.slotWait(pool, limit, d.window.claimed)
}

// slotGone checks the limit again just before the first disruption of a claimed node.
func slotGone(d *deciding, n *cluster.Node, _ int) *Wait {
	if n.ControlPlane || n.CordonedBy == d.op.UID || d.changing(n) {
		return nil
	}
	pool := d.pools[n.Name]
	limit := policy.MaxUnavailable(&d.spec.Pools[pool], d.counts[pool].size)
	if d.counts[pool].unavailable <= limit {
		return nil
	}
	return d.slotWait(pool, limit, nil)
}

// slotWait reports what uses the slots: nodes of this operation end by themselves, others do not.
func (d *deciding) slotWait(pool, limit int, claimed map[string]bool) *Wait {
	name := d.spec.Pools[pool].Name
	unavailable := slices.DeleteFunc(slices.Clone(d.counts[pool].others), func(n *cluster.Node) bool { return claimed[n.Name] })
	if len(unavailable) == 0 {
		return &Wait{Reason: refitv1alpha1.ReasonProgressing, Message: fmt.Sprintf("Pool %s uses %d of %d slots", name, limit, limit)}
	}
	w := &Wait{
		Reason: refitv1alpha1.ReasonNodeUnavailable, Node: unavailable[0].Name, Since: unavailable[0].ReadySince,
		Message: fmt.Sprintf("Pool %s allows %d unavailable, and %s: %s", name, limit, areUnavailable(len(unavailable)), names(unavailable)),
		Remedy:  "Fix or uncordon the nodes, or waive NodeNotReady or NodeCordonedByHand for each of them",
	}
	w.ManualIntervention = slices.ContainsFunc(unavailable, func(n *cluster.Node) bool { return n.IsReady() || d.overdue(n.ReadySince) })
	return w
}

func tooManyActive(d *deciding, _ *cluster.Node, _ int) *Wait {
	if d.window.active < refitv1alpha1.MaxActive {
		return nil
	}
	return &Wait{Reason: refitv1alpha1.ReasonProgressing, Message: fmt.Sprintf("%d nodes are active, which is the maximum", refitv1alpha1.MaxActive)}
}

// budgetShared keeps nodes apart whose pods share a budget. A node whose budget is exhausted waits
// while other nodes are active, since they may be the cause. If none is, its drain starts and
// reports what blocks it.
func budgetShared(d *deciding, n *cluster.Node, hop int) *Wait {
	if !d.needsDrain(n, hop) {
		return nil
	}
	if conflict, may := d.window.draining.MayAdd(n.Name); !may {
		return &Wait{Reason: refitv1alpha1.ReasonDrainBlocked, Node: n.Name, Message: conflict.String()}
	}
	drain := d.drains.Node(n.Name)
	if drain == nil || d.window.active == 0 {
		return nil
	}
	for _, b := range drain.Blockers {
		if b.Kind == disruption.BudgetExhausted {
			return &Wait{
				Reason: refitv1alpha1.ReasonDrainBlocked, Node: n.Name,
				Message: fmt.Sprintf("%s waits: PodDisruptionBudget %s allows no eviction of its pods", n.Name, d.s.Budgets[b.Budget].Key()),
			}
		}
	}
	return nil
}
