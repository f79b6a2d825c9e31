package plan

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// turn is the hop whose turn it is: the first that is not behind us.
func (d *deciding) turn() int {
	for i := range d.plan.Stages {
		if !d.complete(&d.plan.Stages[i]) {
			return d.plan.Stages[i].Hop
		}
	}
	return len(d.plan.Hops) - 1
}

// complete says whether a stage has nothing left to do.
func (d *deciding) complete(stage *Stage) bool {
	switch stage.Name {
	case refitv1alpha1.StagePrefetch:
		return d.firstClosed(HeldHop, nil, stage.Hop) == nil
	case refitv1alpha1.StageControlPlane:
		return d.allSettled(d.controlPlane, stage.Hop)
	case refitv1alpha1.StageWorkers:
		return d.allSettled(d.workers, stage.Hop)
	case refitv1alpha1.StageVerify:
	}
	return false
}

func (v *view) allSettled(nodes []*cluster.Node, hop int) bool {
	for _, n := range nodes {
		if !v.settled(n, hop) {
			return false
		}
	}
	return true
}

// prefetchIncomplete waits until every node has what the hop needs. Once a node of the hop was
// changed the stage is over: a node that joins later prefetches before its own turn.
func prefetchIncomplete(d *deciding, _ *cluster.Node, hop int) *Wait {
	lacking := func(nodes []*cluster.Node, hop int) bool {
		return slices.ContainsFunc(nodes, func(n *cluster.Node) bool {
			return !d.at(n, hop) && !d.prefetched(n, hop) && !d.skipped(n)
		})
	}
	if d.begun(hop) {
		return nil
	}
	workersHop := d.workersHop(hop)
	if lacking(d.controlPlane, hop) || workersHop >= 0 && d.workersFetch(hop) && lacking(d.workers, workersHop) {
		return &Wait{}
	}
	return nil
}

// begun says whether a node was ordered to change in this hop, or to anything in a later one.
func (v *view) begun(hop int) bool {
	for _, nodes := range [][]*cluster.Node{v.controlPlane, v.workers} {
		for _, n := range nodes {
			order := v.order(n)
			if order == nil {
				continue
			}
			at, ok := v.orderedHop(order)
			// Workers are told at the beginning to fetch what they need at the end: that begins nothing.
			if ok && (at == hop && order.Spec.Permit == refitv1alpha1.PermitApply || at > hop && n.ControlPlane) {
				return true
			}
		}
	}
	return false
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

// grant begins what is new: the first stage that is not complete says what.
func (d *deciding) grant() {
	for i := range d.plan.Stages {
		stage := &d.plan.Stages[i]
		if d.complete(stage) {
			continue
		}
		switch stage.Name {
		case refitv1alpha1.StagePrefetch:
			d.grantPrefetch(stage.Hop)
		case refitv1alpha1.StageControlPlane:
			d.grantControlPlane(stage.Hop)
		case refitv1alpha1.StageWorkers:
			d.grantWorkers(stage.Hop)
		case refitv1alpha1.StageVerify:
			d.finish()
		}
		return
	}
}

// grantControlPlane begins with the next control plane node, one at a time.
func (d *deciding) grantControlPlane(hop int) {
	var skipped []*cluster.Node
	for _, n := range d.controlPlane {
		if d.settled(n, hop) {
			continue
		}
		if d.active[n.Name] {
			return // it is being brought on
		}
		if d.skipped(n) {
			skipped = append(skipped, n)
			continue
		}
		if d.at(n, hop) {
			d.wait(d.unsettled(n, hop))
			return
		}
		if w := d.firstClosed(HeldControlPlaneClaim, n, hop); w != nil {
			d.wait(*w)
			return
		}
		d.act(Claim, n, "%s", d.controlPlaneReason(n))
		return
	}
	if len(skipped) > 0 {
		d.wait(skippedWait(skipped))
	}
}

func (d *deciding) controlPlaneReason(n *cluster.Node) string {
	switch {
	case len(d.controlPlane) == 1:
		return "it is the only control plane node"
	case n.Name == d.s.Endpoint.Holder:
		return "it holds the API endpoint's address and goes last"
	}
	if d.s.ExternalEtcd() == cluster.Yes {
		return "it is the next control plane node; every API server is ready"
	}
	return "it is the next control plane node; every etcd member and API server is well"
}

// grantWorkers opens each pool's window as far as it goes.
func (d *deciding) grantWorkers(hop int) {
	w := d.openWindow(hop)
	d.window = w
	for _, n := range d.workers {
		if d.settled(n, hop) || d.active[n.Name] {
			continue
		}
		switch {
		case d.skipped(n):
			w.skipped = append(w.skipped, n)
		case d.at(n, hop):
			w.holdBack(d.unsettled(n, hop))
		default:
			if wait := d.firstClosed(HeldWorkerClaim, n, hop); wait != nil {
				w.holdBack(*wait)
				continue
			}
			w.claim(n)
			d.act(Claim, n, "%s", w.reason(n))
		}
	}
	for _, wait := range w.held {
		d.wait(wait)
	}
	if len(w.skipped) > 0 && len(w.held) == 0 && len(d.do) == 0 && d.busy == 0 {
		d.wait(skippedWait(w.skipped))
	}
}

func skippedWait(nodes []*cluster.Node) Wait {
	return Wait{
		Reason: refitv1alpha1.ReasonNodesSkipped, Node: nodes[0].Name, Person: true,
		Message: fmt.Sprintf("%s left for later because %s could not be emptied: %s", count(len(nodes), "node"), they(len(nodes)), names(nodes)),
		Remedy:  "make room for their pods and say retry, or say abort to end here",
	}
}

// finish ends the operation when everything holds that Verify promises.
func (d *deciding) finish() {
	if w := d.firstClosed(HeldFinish, nil, len(d.plan.Hops)-1); w != nil {
		d.wait(*w)
		return
	}
	d.do = append(d.do, Action{Kind: Finish, Reason: "every node of the plan is at its version and ready"})
}

// endAborted holds what was only fetched and ends the operation when no node is at work any more.
func (d *deciding) endAborted() {
	for _, nodes := range [][]*cluster.Node{d.controlPlane, d.workers} {
		for _, n := range nodes {
			order := d.order(n)
			if order != nil && !d.active[n.Name] && order.Spec.Permit == refitv1alpha1.PermitPrefetch {
				d.withhold(n, "the operation was aborted")
			}
		}
	}
	if d.firstClosed(HeldFinish, nil, len(d.plan.Hops)-1) == nil {
		d.do = append(d.do, Action{Kind: Finish, Reason: "the operation was aborted and no node is at work"})
	}
}

// window is what may still be begun among the workers, while Next goes through them.
type window struct {
	view        *view
	unavailable []int // by pool
	atWork      int
	draining    *disruption.Set
	zones       []zoneTurn // by pool
	proven      []canary   // by pool
	held        []Wait
	skipped     []*cluster.Node
	claimed     map[string]bool
}

type zoneTurn struct {
	set  bool
	zone string
}

// canary is how a pool's canary stands.
type canary struct {
	begun  int // nodes at work or done
	proven bool
	wait   *Wait
}

// openWindow counts who is at work. A slot that is freed by this very decision is free: both are in one write.
func (d *deciding) openWindow(hop int) *window {
	pools, freed := len(d.spec.Pools), d.freed()
	w := &window{
		view: d.view, unavailable: make([]int, pools), atWork: len(d.active) - len(freed),
		zones: make([]zoneTurn, pools), proven: make([]canary, pools), claimed: map[string]bool{},
	}
	var draining []string
	for _, name := range d.op.Active {
		n := d.nodes[name]
		if n == nil {
			continue
		}
		if freed[name] {
			if !n.ControlPlane && !d.away(n) {
				w.unavailable[d.pools[name]]--
			}
			continue
		}
		if !d.changing(n) {
			draining = append(draining, name)
		}
		if !n.ControlPlane {
			w.zones[d.pools[name]] = zoneTurn{set: true, zone: n.Zone}
		}
	}
	w.draining = d.drains.Together(draining...)
	for pool := range w.proven {
		w.unavailable[pool] += d.counts[pool].away
		w.proven[pool] = d.canary(pool, hop)
	}
	return w
}

// freed are the nodes whose slots are freed by what was decided so far.
func (d *deciding) freed() map[string]bool {
	out := map[string]bool{}
	for i := range d.do {
		if d.do[i].Kind == Free {
			out[d.do[i].Node] = true
		}
	}
	return out
}

// claim counts a node that is about to be claimed.
func (w *window) claim(n *cluster.Node) {
	pool := w.view.pools[n.Name]
	if !w.view.unavailable(n) {
		w.unavailable[pool]++
	}
	w.atWork++
	w.draining.Add(n.Name)
	w.zones[pool] = zoneTurn{set: true, zone: n.Zone}
	w.proven[pool].begun++
	w.claimed[n.Name] = true
}

// holdBack remembers one reason of each kind: five thousand nodes that wait for a slot are one thing to say.
func (w *window) holdBack(wait Wait) {
	if wait == (Wait{}) {
		return
	}
	for _, held := range w.held {
		if held.Reason == wait.Reason {
			return
		}
	}
	w.held = append(w.held, wait)
}

func (w *window) reason(n *cluster.Node) string {
	pool := w.view.pools[n.Name]
	rules := &w.view.spec.Pools[pool]
	if c := w.proven[pool]; rules.Canary != nil && !c.proven {
		return fmt.Sprintf("canary %d of %d of pool %s", c.begun, rules.Canary.Nodes, rules.Name)
	}
	return fmt.Sprintf("%d of %d slots of pool %s", w.unavailable[pool], policy.MaxUnavailable(rules, w.view.counts[pool].size), rules.Name)
}
