package plan

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// stages lists the stages of the plan in their order.
func (m *planner) stages(p *Plan) []Stage {
	var out []Stage
	for hop := range p.Hops {
		for i := range stageTable {
			if kind := &stageTable[i]; kind.included(m, p, hop) {
				out = append(out, Stage{Name: kind.Name, Hop: hop, Kubernetes: p.Hops[hop].Kubernetes})
			}
		}
	}
	return out
}

// fill adds the reason of a stage, its nodes and its estimate.
func (m *planner) fill(p *Plan, stage *Stage) {
	kind := StageKindOf(stage.Name)
	stage.Reason = kind.reason(m, p, stage.Hop)
	kind.steps(m, p, stage)
	p.withoutUnchanged(stage)
}

func (m *planner) everyHop(*Plan, int) bool { return true }

func (m *planner) lastHop(p *Plan, hop int) bool { return hop == len(p.Hops)-1 }

func (m *planner) controlPlaneMoves(_ *Plan, hop int) bool {
	return m.spec.Scope != refitv1alpha1.ScopeWorkers && !m.catchUp(hop)
}

func (m *planner) workersFollow(_ *Plan, hop int) bool { return m.path.WorkersFollow[hop] }

// catchUp reports whether a hop is for workers only: they catch up with the control plane before
// its next upgrade.
func (m *planner) catchUp(hop int) bool {
	return hop == 0 && len(m.path.Hops) > 1 && m.path.Hops[0] == m.path.From
}

// prefetchSteps lists the control plane nodes of the hop, and the workers if their next version
// differs from that of the hop before. Workers prefetch first what they install last: a file that
// is unavailable is known before anything is disrupted. Nodes that run the version prefetch the
// images of components.
func (m *planner) prefetchSteps(p *Plan, stage *Stage) {
	hop := stage.Hop
	defer func() { stage.Estimate = prefetchEstimate(stage.Nodes) }()
	add := func(n *cluster.Node, step NodeStep, to string) {
		step.To, step.UpToDate = to, isAt(m.snapshot, n, to)
		if !step.UpToDate || p.bringsImages(hop) {
			stage.Nodes = append(stage.Nodes, step)
		}
	}
	if m.controlPlaneMoves(p, hop) {
		for _, n := range m.controlPlane {
			add(n, NodeStep{Node: n.Name, From: m.from(p, n, hop)}, stage.Kubernetes)
		}
	}
	next := slices.Index(m.path.WorkersFollow[hop:], true)
	if next < 0 || (hop > 0 && !m.path.WorkersFollow[hop-1]) {
		return
	}
	for i, nodes := range m.workers {
		for _, n := range nodes {
			add(n, NodeStep{Node: n.Name, Pool: m.spec.Pools[i].Name, Zone: n.Zone, From: m.from(p, n, hop)}, p.Hops[hop+next].Kubernetes)
		}
	}
}

// from is the version that a node runs when a hop starts: its current one, or that of an earlier
// hop.
func (m *planner) from(p *Plan, n *cluster.Node, hop int) string {
	for i := hop - 1; i >= 0; i-- {
		if (n.ControlPlane && !m.catchUp(i)) || (!n.ControlPlane && m.path.WorkersFollow[i]) {
			if isAt(m.snapshot, n, p.Hops[i].Kubernetes) {
				return n.Kubelet
			}
			return p.Hops[i].Kubernetes
		}
	}
	return n.Kubelet
}

func (m *planner) controlPlaneSteps(p *Plan, stage *Stage) {
	holder := m.snapshot.Endpoint.Holder
	for _, n := range m.controlPlane {
		step := m.step(p, n, stage.Hop)
		if n.Name == holder && len(m.controlPlane) > 1 && !step.UpToDate {
			step.Reason = fmt.Sprintf("it holds the API endpoint's address %s, so it is last", m.snapshot.Endpoint.Address)
			if m.snapshot.Endpoint.Via != cluster.ViaNodeAddress {
				step.Reason += ": the address moves once, to an upgraded node"
			}
		}
		stage.Nodes = append(stage.Nodes, step)
		stage.Estimate = stage.Estimate.plus(step.Estimate)
	}
}

func (m *planner) workerSteps(p *Plan, stage *Stage) {
	for i, nodes := range m.workers {
		steps := m.poolSteps(p, i, stage.Hop)
		for at := range p.Pools {
			if pool := &p.Pools[at]; len(nodes) > 0 && pool.Name == m.spec.Pools[i].Name {
				pool.Estimate = poolEstimate(pool, steps)
				stage.Estimate = stage.Estimate.longer(pool.Estimate) // in parallel
			}
		}
		stage.Nodes = append(stage.Nodes, steps...)
	}
}

func (m *planner) poolSteps(p *Plan, pool, hop int) []NodeStep {
	rules := &m.spec.Pools[pool]
	steps := make([]NodeStep, 0, len(m.workers[pool]))
	for i, n := range m.workers[pool] {
		step := m.step(p, n, hop)
		step.Pool, step.Zone = rules.Name, n.Zone
		step.Canary = rules.Canary != nil && i < int(rules.Canary.Nodes)
		if n.Unschedulable && n.CordonedBy == "" {
			step.Reason = "it is cordoned already, so it is first in its zone, and it stays cordoned"
		}
		if step.UpToDate {
			step.Canary, step.Reason = false, ""
		}
		if step.Canary {
			step.Reason = fmt.Sprintf("canary: the other nodes follow once it has been healthy for %s", duration(rules.Canary.Soak.Duration))
		}
		steps = append(steps, step)
	}
	m.addConflicts(steps)
	return steps
}

// addConflicts adds which nodes share a budget that does not allow them to be drained together.
// Each node names the nearest ones before it, which is enough for a reader; Next checks the live
// budgets.
func (m *planner) addConflicts(steps []NodeStep) {
	at := make(map[string]int, len(steps))
	for i := range steps {
		at[steps[i].Node] = i
	}
	for _, apart := range m.drains.SharedBudgets() {
		budget := &m.snapshot.Budgets[apart.Budget]
		var here []int
		for _, name := range apart.Nodes {
			if i, ok := at[name]; ok && steps[i].Drain {
				here = append(here, i)
			}
		}
		slices.Sort(here)
		reason := fmt.Sprintf("PodDisruptionBudget %s allows %d of their pods to be evicted at once", budget.Key(), max(0, budget.Allowed))
		for i := 1; i < len(here); i++ {
			earlier, later := &steps[here[i-1]], &steps[here[i]]
			if len(later.Conflicts) < 3 {
				later.Conflicts = append(later.Conflicts, Conflict{Node: earlier.Node, Reason: reason})
			}
		}
	}
}

func (m *planner) step(p *Plan, n *cluster.Node, hop int) NodeStep {
	to := p.Hops[hop].Kubernetes
	step := NodeStep{Node: n.Name, From: m.from(p, n, hop), To: to}
	if step.UpToDate = isAt(m.snapshot, n, to); step.UpToDate {
		return step
	}
	step.Drain = needsDrain(m.snapshot, m.spec, n, &p.Hops[hop])
	drain := m.drains.Node(n.Name)
	if step.Drain && drain != nil {
		step.Moves = int(drain.Moves)
	}
	step.Estimate = m.times.node(n, step.Drain, drain)
	return step
}

func (m *planner) verifySteps(_ *Plan, stage *Stage) {
	stage.Estimate = Estimate{Expected: defaultVerify}
}
