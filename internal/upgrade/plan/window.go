package plan

import (
	"fmt"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// window tracks how many more workers may be claimed while Next goes through them.
type window struct {
	view        *view
	unavailable []int // by pool
	active      int
	draining    *disruption.Set
	zones       []zoneTurn // by pool
	canaries    []canary   // by pool
	waits       []Wait
	skipped     []*cluster.Node
	claimed     map[string]bool
}

type zoneTurn struct {
	set  bool
	zone string
}

// canary is the state of a pool's canary.
type canary struct {
	started int // nodes that are active or done
	proven  bool
	wait    *Wait
}

// openWindow counts the active nodes. A slot that this decision frees is free: one write does both.
func (d *deciding) openWindow(hop int) *window {
	pools, freed := len(d.spec.Pools), d.freed()
	w := &window{
		view: d.view, unavailable: make([]int, pools), active: len(d.active) - len(freed),
		zones: make([]zoneTurn, pools), canaries: make([]canary, pools), claimed: map[string]bool{},
	}
	var draining []string
	for _, name := range d.op.Active {
		n := d.nodes[name]
		if n == nil {
			continue
		}
		if freed[name] {
			if !n.ControlPlane && !d.outOfService(n) {
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
	for pool := range w.canaries {
		w.unavailable[pool] += d.counts[pool].unavailable
		w.canaries[pool] = d.canary(pool, hop)
	}
	return w
}

// freed are the nodes that this decision releases.
func (d *deciding) freed() map[string]bool {
	out := map[string]bool{}
	for i := range d.actions {
		if d.actions[i].Kind == ReleaseNode {
			out[d.actions[i].Node] = true
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
	w.active++
	w.draining.Add(n.Name)
	w.zones[pool] = zoneTurn{set: true, zone: n.Zone}
	w.canaries[pool].started++
	w.claimed[n.Name] = true
}

// addWait keeps one wait for each reason: thousands of nodes that wait for a slot are one message.
func (w *window) addWait(wait Wait) {
	if wait == (Wait{}) {
		return
	}
	for _, held := range w.waits {
		if held.Reason == wait.Reason {
			return
		}
	}
	w.waits = append(w.waits, wait)
}

func (w *window) reason(n *cluster.Node) string {
	pool := w.view.pools[n.Name]
	rules := &w.view.spec.Pools[pool]
	if c := w.canaries[pool]; rules.Canary != nil && !c.proven {
		return fmt.Sprintf("canary %d of %d of pool %s", c.started, rules.Canary.Nodes, rules.Name)
	}
	return fmt.Sprintf("%d of %d slots of pool %s", w.unavailable[pool], policy.MaxUnavailable(rules, w.view.counts[pool].size), rules.Name)
}
