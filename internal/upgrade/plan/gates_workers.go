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

// controlPlaneActive holds workers while a control plane node is at work: a worker that joins late can open a stage again that lay behind.
func controlPlaneActive(d *deciding, n *cluster.Node, _ int) *Wait {
	for _, other := range d.controlPlane {
		if d.active[other.Name] || d.changing(other) {
			message := fmt.Sprintf("%s waits until %s of the control plane is done", n.Name, other.Name)
			return &Wait{Reason: refitv1alpha1.ReasonProgressing, Node: n.Name, Message: message}
		}
	}
	return nil
}

func workerNotReady(d *deciding, n *cluster.Node, _ int) *Wait {
	if n.IsReady() {
		return nil
	}
	w := d.notReady(n, "still to be upgraded")
	return &w
}

// kubeletTooNew compares with every API server, since the kubelet may be led to any of them.
func kubeletTooNew(d *deciding, n *cluster.Node, hop int) *Wait {
	want := d.targets[hop]
	for _, server := range d.servers {
		if v := d.serverVersion(server); v.IsZero() || v.MinorsBehind(want) > 0 {
			return &Wait{
				Reason: refitv1alpha1.ReasonSkew, Node: n.Name, ManualIntervention: true,
				Message: fmt.Sprintf("The API server on %s is at %s: a kubelet at %s would be newer", server.Name, orUnknown(v), want),
				Remedy:  "upgrade the control plane first",
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
	return &Wait{Reason: refitv1alpha1.ReasonProgressing, Node: n.Name, Message: fmt.Sprintf("Zone %s waits until zone %s is done", n.Zone, turn.zone)}
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

// canary looks how a pool's canary stands: as many nodes as the policy says were upgraded by this operation and have been healthy for the soak.
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
		case d.ordered(n, hop) && d.phase(n) == refitv1alpha1.NodeSucceeded:
			out.started++
			if !d.settled(n, hop) || order.Status.CompletionTime == nil {
				continue // it has fallen ill since, which is what a canary is for
			}
			since := order.Status.CompletionTime.Time // healthy since then, without a break
			if n.ReadySince.After(since) {
				since = n.ReadySince
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

// noSlot counts every node of the pool that is unavailable, whoever made it so. A node that is unavailable already costs nothing more.
func noSlot(d *deciding, n *cluster.Node, _ int) *Wait {
	pool := d.pools[n.Name]
	limit := policy.MaxUnavailable(&d.spec.Pools[pool], d.counts[pool].size)
	if d.window.unavailable[pool] < limit || (d.unavailable(n) && d.window.unavailable[pool] <= limit) {
		return nil
	}
	return d.slotWait(pool, limit, d.window.claimed)
}

// slotGone is the same question once more, just before the first disruption of a claimed node: only as many as the limit allows may be away with it.
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

// slotWait tells who uses the slots up: our own work ends by itself, somebody else's does not.
func (d *deciding) slotWait(pool, limit int, claimed map[string]bool) *Wait {
	name := d.spec.Pools[pool].Name
	away := slices.DeleteFunc(slices.Clone(d.counts[pool].others), func(n *cluster.Node) bool { return claimed[n.Name] })
	if len(away) == 0 {
		return &Wait{Reason: refitv1alpha1.ReasonProgressing, Message: fmt.Sprintf("Pool %s: %d of %d slots are in use", name, limit, limit)}
	}
	w := &Wait{
		Reason: refitv1alpha1.ReasonNodeUnavailable, Node: away[0].Name, Since: away[0].ReadySince,
		Message: fmt.Sprintf("Pool %s: at most %d may be unavailable, and %s already: %s", name, limit, areUnavailable(len(away)), names(away)),
		Remedy:  "bring them back (kubectl uncordon, or repair the node), or waive NodeCordonedByHand or NodeNotReady for the node by its name",
	}
	w.ManualIntervention = slices.ContainsFunc(away, func(n *cluster.Node) bool { return n.IsReady() || d.now.Sub(n.ReadySince) > interventionDelay })
	return w
}

func tooManyActive(d *deciding, _ *cluster.Node, _ int) *Wait {
	if d.window.active < refitv1alpha1.MaxActive {
		return nil
	}
	return &Wait{Reason: refitv1alpha1.ReasonProgressing, Message: fmt.Sprintf("%d nodes are at work, which is the most at once", refitv1alpha1.MaxActive)}
}

// budgetShared keeps nodes apart whose pods share a budget. A node whose budget is exhausted at this moment waits as long as others are on their way, since
// these may be the reason; with nobody else at work it begins, and its drain tells what it waits for.
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
				Message: fmt.Sprintf("%s waits: PodDisruptionBudget %s allows none of its pods to go just now", n.Name, d.s.Budgets[b.Budget].Key()),
			}
		}
	}
	return nil
}
