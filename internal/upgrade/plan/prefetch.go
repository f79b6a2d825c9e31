package plan

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// grantPrefetch lets nodes fetch what they need, a few at a time: images are unpacked beside an etcd member and beside people's pods, and all that fetch draw
// on one source. Control plane nodes go first, one by one.
func (d *deciding) grantPrefetch(hop int) {
	if d.prefetchSome(d.controlPlane, hop, 1) > 0 {
		return
	}
	if workers := d.workersHop(hop); workers >= 0 && d.workersPrefetch(hop) {
		d.prefetchSome(d.workers, workers, prefetchLimit(len(d.workers)))
	}
}

// fetchers is how many workers fetch at a time: a tenth, and at least two.
func prefetchLimit(workers int) int { return min(max(2, workers/10), refitv1alpha1.MaxActive) }

// workersFetch says whether workers fetch before this hop: at the beginning, and again after each time that they went.
func (v *view) workersPrefetch(hop int) bool { return hop == 0 || v.workersHop(hop-1) == hop-1 }

// fetchAFew orders nodes to fetch, as long as not too many are at it, and says how many are.
func (d *deciding) prefetchSome(nodes []*cluster.Node, hop, most int) int {
	var missing []*cluster.Node
	fetching := 0
	for _, n := range nodes {
		if d.at(n, hop) || d.prefetched(n, hop) || d.skipped(n) || d.active[n.Name] {
			continue
		}
		missing = append(missing, n)
		if d.prefetching(n, hop) {
			fetching++
		}
	}
	d.slots = prefetchSlots{used: fetching, limit: most}
	for _, n := range missing {
		fresh := !d.ordered(n, hop) && d.firstClosed(HeldOrder, n, hop) == nil
		if fresh && d.firstClosed(HeldPrefetch, n, hop) != nil {
			continue
		}
		if d.prefetchNode(n, hop) {
			d.slots.used++
		}
	}
	return d.slots.used
}

// prefetchSlots bounds how many nodes prefetch at a time.
type prefetchSlots struct{ used, limit int }

func noPrefetchSlot(d *deciding, _ *cluster.Node, _ int) *Wait {
	if d.slots.used < d.slots.limit {
		return nil
	}
	return &Wait{}
}

// fetching says whether a node's agent is at it.
func (d *deciding) prefetching(n *cluster.Node, hop int) bool {
	return d.ordered(n, hop) && n.IsReady() && (d.phase(n) == "" || d.phase(n) == refitv1alpha1.NodePrefetching)
}

// fetch orders the node's agent to fetch what the hop needs, or waits for it. It says whether it ordered something.
func (d *deciding) prefetchNode(n *cluster.Node, hop int) bool {
	if w := d.firstClosed(HeldOrder, n, hop); w != nil {
		d.wait(*w)
		return false
	}
	if !d.ordered(n, hop) {
		d.command(Prefetch, n, hop, "so that nothing has to be fetched while it is disrupted")
		return true
	}
	if d.phase(n) == refitv1alpha1.NodeFailed {
		if d.op.Spec.Retry > d.order(n).Spec.Attempt {
			d.command(Prefetch, n, hop, "a person asked to try again")
			return true
		}
		d.wait(d.failedWait(n))
		return false
	}
	if !n.IsReady() {
		d.wait(d.notReady(n, "it has to fetch "+d.plan.Hops[hop].Kubernetes))
		return false
	}
	if w := d.firstClosed(HeldProgress, n, hop); w != nil {
		d.wait(*w)
		return false
	}
	d.busy++
	d.wait(d.inProgress(n, fmt.Sprintf("Fetching %s on %s", d.plan.Hops[hop].Kubernetes, n.Name)))
	return false
}

// prefetchIncomplete waits until every node has what the hop needs. Once a node of the hop was
// changed the stage is over: a node that joins later prefetches before its own turn.
func prefetchIncomplete(d *deciding, _ *cluster.Node, hop int) *Wait {
	lacking := func(nodes []*cluster.Node, hop int) bool {
		return slices.ContainsFunc(nodes, func(n *cluster.Node) bool {
			return !d.at(n, hop) && !d.prefetched(n, hop) && !d.skipped(n)
		})
	}
	if d.hopStarted(hop) {
		return nil
	}
	workersHop := d.workersHop(hop)
	if lacking(d.controlPlane, hop) || workersHop >= 0 && d.workersPrefetch(hop) && lacking(d.workers, workersHop) {
		return &Wait{}
	}
	return nil
}
