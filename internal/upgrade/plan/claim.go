package plan

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// grantControlPlane claims the next control plane node, one at a time. A node that is being changed
// comes first: if its claim was lost, its agent waits for it, and the others wait for that agent.
func (d *deciding) grantControlPlane(turn int) {
	var skipped []*cluster.Node
	for _, n := range d.changingFirst() {
		hop := d.hopInProgress(n, turn)
		if d.settled(n, hop) {
			continue
		}
		if d.active[n.Name] {
			return // it advances
		}
		if d.skipped(n) {
			skipped = append(skipped, n)
			continue
		}
		if d.at(n, hop) && !d.changing(n) {
			d.wait(d.unsettled(n, hop))
			return
		}
		if w := d.firstClosed(HeldControlPlaneClaim, n, hop); w != nil {
			d.wait(*w)
			return
		}
		d.act(Claim, n, "%s", d.claimReason(n))
		return
	}
	if len(skipped) > 0 {
		d.wait(skippedWait(skipped))
	}
}

// hopInProgress is the hop of a node that is being changed, which is later than the current one if
// a restore of etcd lost its claim.
func (d *deciding) hopInProgress(n *cluster.Node, turn int) int {
	if d.changing(n) {
		if hop, ok := d.orderedHop(d.order(n)); ok {
			return max(turn, hop)
		}
	}
	return turn
}

func (d *deciding) changingFirst() []*cluster.Node {
	nodes := slices.Clone(d.controlPlane)
	slices.SortStableFunc(nodes, func(a, b *cluster.Node) int {
		switch changing := d.changing(a); {
		case changing == d.changing(b):
			return 0
		case changing:
			return -1
		}
		return 1
	})
	return nodes
}

func (d *deciding) claimReason(n *cluster.Node) string {
	switch {
	case d.changing(n):
		return "its upgrade is in progress, and its claim was lost"
	case len(d.controlPlane) == 1:
		return "it is the only control plane node"
	case n.Name == d.s.Endpoint.Holder:
		return "it holds the API endpoint's address, so it is last"
	}
	return "it is the next control plane node; every etcd member and API server is healthy"
}

// grantWorkers claims as many workers as each pool's window allows.
func (d *deciding) grantWorkers(turn int) {
	w := d.openWindow(turn)
	d.window = w
	for _, n := range d.workers {
		hop := d.hopInProgress(n, turn)
		if d.settled(n, hop) || d.active[n.Name] || d.staysOlder(n, hop) {
			continue
		}
		switch {
		case d.skipped(n):
			w.skipped = append(w.skipped, n)
		case d.at(n, hop) && !d.changing(n):
			w.addWait(d.unsettled(n, hop))
		default:
			if wait := d.firstClosed(HeldWorkerClaim, n, hop); wait != nil {
				w.addWait(*wait)
				continue
			}
			w.claim(n)
			d.act(Claim, n, "%s", w.reason(n))
		}
	}
	for _, wait := range w.waits {
		d.wait(wait)
	}
	if len(w.skipped) > 0 && len(w.waits) == 0 && len(d.actions) == 0 && d.busy == 0 {
		d.wait(skippedWait(w.skipped))
	}
}

func skippedWait(nodes []*cluster.Node) Wait {
	return Wait{
		Reason: refitv1alpha1.ReasonNodesSkipped, Node: nodes[0].Name, ManualIntervention: true,
		Message: fmt.Sprintf("%s skipped because the drain timed out: %s", count(len(nodes), "node"), names(nodes)),
		Remedy:  "Make their pods evictable, then run `refit retry`; or run `refit abort` to end the upgrade without these nodes",
	}
}
