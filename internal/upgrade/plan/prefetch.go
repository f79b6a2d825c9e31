package plan

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// grantPrefetch lets a few nodes prefetch at a time: unpacking images competes with an etcd member
// and with users' pods, and all nodes fetch from one source. Control plane nodes are first, one by
// one.
func (d *deciding) grantPrefetch(hop int) {
	if d.prefetchSome(d.controlPlane, hop, 1) > 0 {
		return
	}
	if workers := d.workersHop(hop); workers >= 0 && d.workersPrefetch(hop) {
		d.prefetchSome(d.workers, workers, prefetchLimit(len(d.workers)))
	}
}

// prefetchLimit is how many workers prefetch at a time: a tenth, and at least two.
func prefetchLimit(workers int) int { return min(max(2, workers/10), refitv1alpha1.MaxActive) }

// workersPrefetch reports whether workers prefetch in this hop: in the first one, and in the one
// after each of their upgrades.
func (v *view) workersPrefetch(hop int) bool { return hop == 0 || v.workersHop(hop-1) == hop-1 }

// prefetchSome orders nodes to prefetch within the limit, and returns how many of them do.
func (d *deciding) prefetchSome(nodes []*cluster.Node, hop, limit int) int {
	var missing []*cluster.Node
	used := 0
	for _, n := range nodes {
		if !d.lacks(n, hop) || d.skipped(n) || d.active[n.Name] {
			continue
		}
		missing = append(missing, n)
		if d.prefetching(n, hop) {
			used++
		}
	}
	d.slots = prefetchSlots{used: used, limit: limit}
	for _, n := range missing {
		fresh := !d.ordered(n, hop) && d.firstClosed(HeldOrder, n, hop) == nil
		if fresh {
			if w := d.firstClosed(HeldPrefetch, n, hop); w != nil {
				d.wait(*w)
				continue
			}
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

// prefetching reports whether a node's agent is prefetching.
func (d *deciding) prefetching(n *cluster.Node, hop int) bool {
	return d.ordered(n, hop) && n.IsReady() && (d.phase(n) == "" || d.phase(n) == refitv1alpha1.NodePrefetching)
}

// prefetchNode orders a node's agent to prefetch for the hop, or waits for it. It reports whether
// it wrote an order.
func (d *deciding) prefetchNode(n *cluster.Node, hop int) bool {
	if w := d.waitForBackup(n); w != nil {
		d.wait(*w)
		return false
	}
	if w := d.firstClosed(HeldOrder, n, hop); w != nil {
		d.wait(*w)
		return false
	}
	if !d.ordered(n, hop) {
		why := "files and images must be on the node before it is disrupted"
		if d.at(n, hop) {
			why = "images of components must be on the node before one is changed"
		}
		d.command(Prefetch, n, hop, why)
		return true
	}
	if d.phase(n) == refitv1alpha1.NodeFailed || d.refusal(n) != nil {
		if d.repeats(n) {
			d.command(Prefetch, n, hop, "retry was requested")
			return true
		}
		d.wait(d.failedWait(n))
		return false
	}
	if !n.IsReady() {
		d.wait(d.notReady(n, "prefetching "+d.content(n, hop)))
		return false
	}
	if w := d.firstClosed(HeldProgress, n, hop); w != nil {
		d.wait(*w)
		return false
	}
	d.busy++
	d.wait(d.inProgress(n, fmt.Sprintf("Prefetching %s on %s", d.content(n, hop), n.Name)))
	return false
}

// prefetchIncomplete waits until every node has what the hop needs. Once a node of the hop was
// changed the stage is over: a node that joins later prefetches before its own turn.
func prefetchIncomplete(d *deciding, _ *cluster.Node, hop int) *Wait {
	lacking := func(nodes []*cluster.Node, hop int) bool {
		return slices.ContainsFunc(nodes, func(n *cluster.Node) bool {
			return d.lacks(n, hop) && !d.skipped(n) && !d.leftBehind(n, hop)
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
