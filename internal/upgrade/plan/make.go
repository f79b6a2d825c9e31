package plan

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// Make plans the upgrade that spec requests. It follows an operation's recorded path, however far
// the cluster has come on it; otherwise the path starts at the cluster's current version. Make
// fails if the target is unreachable.
func Make(s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec) (*Plan, error) {
	p, m, err := outline(s, spec)
	if err != nil {
		return nil, err
	}
	m.drains, m.times = disruption.Simulate(s), observedTimes(s).times()
	m.sortNodes()
	p.Excluded = m.excluded
	p.Pools = m.pools()
	for i := range p.Stages {
		m.fill(p, &p.Stages[i])
		p.Estimate.Expected += p.Stages[i].Estimate.Expected
		p.Estimate.Observed = p.Estimate.Observed || p.Stages[i].Estimate.Observed
	}
	if p.componentsAlone() {
		p.Notes = m.componentNotes(p)
	} else {
		p.Notes = m.notes(p)
	}
	return p, nil
}

// Outline is the same plan without its nodes, pools, notes and estimates. It has the same hash,
// Next decides the same on it, and it stays cheap with thousands of nodes.
func Outline(s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec) (*Plan, error) {
	p, _, err := outline(s, spec)
	return p, err
}

func outline(s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec) (*Plan, *planner, error) {
	spec = policy.Defaulted(spec)
	path, err := PathOf(s, spec)
	if err != nil {
		return nil, nil, err
	}
	if len(path.Hops) > refitv1alpha1.MaxHops {
		return nil, nil, targetError{fmt.Errorf("the path to %s has %d hops, and an operation may have %d: upgrade to an earlier version first",
			path.To, len(path.Hops), refitv1alpha1.MaxHops)}
	}
	m := &planner{snapshot: s, spec: &spec, path: path}
	p := &Plan{From: path.From.String(), To: path.To.String(), spec: spec}
	if _, oldest, err := start(s); err == nil && !oldest.IsZero() {
		p.WorkersFrom = oldest.String()
	}
	p.Hops = m.hops()
	p.components = componentplan.Of(s, &spec, path, policy.ComponentReleases(s, &spec, path)).Steps
	p.Stages = m.stages(p)
	p.Hash = hash(p, upgradedServers(s, &spec))
	return p, m, nil
}

// upgradedServers are the control plane nodes that a plan upgrades.
func upgradedServers(s *cluster.Snapshot, spec *refitv1alpha1.ClusterUpgradeSpec) []*cluster.Node {
	return slices.DeleteFunc(s.ControlPlane(), func(n *cluster.Node) bool { return policy.Exclusion(spec, n) != "" })
}

// Summary is the plan as an operation's status records it.
func (p *Plan) Summary() *refitv1alpha1.PlanSummary {
	out := &refitv1alpha1.PlanSummary{Hash: p.Hash, From: p.From, WorkersFrom: p.WorkersFrom, To: p.To}
	out.Estimate.Duration = p.Estimate.Expected
	for _, hop := range p.Hops {
		h := refitv1alpha1.Hop{Kubernetes: hop.Kubernetes}
		if hop.Release != nil {
			h.Release = *hop.Release
		}
		out.Hops = append(out.Hops, h)
	}
	for _, stage := range p.Stages {
		nodes := int32(min(len(stage.Nodes), 1<<30))
		switch kind := StageKindOf(stage.Name); {
		case kind.Once:
			nodes = 1
		case kind.Components:
			nodes = int32(len(p.componentsOf(stage.Name, stage.Hop)))
		}
		out.Stages = append(out.Stages, refitv1alpha1.StageSummary{Name: stage.Name, Kubernetes: stage.Kubernetes, Total: nodes})
	}
	for i := range p.components {
		step := &p.components[i]
		out.Components = append(out.Components, refitv1alpha1.PlannedComponent{
			Name: step.Component, Stage: step.Stage(), Kubernetes: p.Hops[step.Hop].Kubernetes, RunsOn: step.Kubernetes, Action: step.Action,
			From: step.From, To: step.To, Digest: step.Digest,
		})
	}
	return out
}

// planner has the inputs of a plan.
type planner struct {
	snapshot *cluster.Snapshot
	spec     *refitv1alpha1.ClusterUpgradeSpec
	path     skew.Path
	drains   *disruption.Simulation
	times    times

	controlPlane []*cluster.Node   // in their order
	workers      [][]*cluster.Node // by pool, in their order
	sizes        []int             // by pool, with excluded nodes, for maxUnavailable
	excluded     []ExcludedNode
}

func (m *planner) sortNodes() {
	m.workers = make([][]*cluster.Node, len(m.spec.Pools))
	m.sizes = make([]int, len(m.spec.Pools))
	for i := range m.snapshot.Nodes {
		n := &m.snapshot.Nodes[i]
		if policy.Pooled(n) {
			m.sizes[policy.PoolOf(m.spec, n)]++
		}
		switch reason := policy.Exclusion(m.spec, n); {
		case reason != "":
			m.excluded = append(m.excluded, ExcludedNode{Node: n.Name, Reason: reason})
		case n.ControlPlane:
			m.controlPlane = append(m.controlPlane, n)
		default:
			pool := policy.PoolOf(m.spec, n)
			m.workers[pool] = append(m.workers[pool], n)
		}
	}
	sortControlPlane(m.controlPlane, m.snapshot.Endpoint.Holder)
	for _, nodes := range m.workers {
		sortWorkers(nodes)
	}
	slices.SortFunc(m.excluded, func(a, b ExcludedNode) int { return byName(a.Node, b.Node) })
}

// hops resolves each version of the path to a ClusterRelease.
func (m *planner) hops() []Hop {
	hops := make([]Hop, 0, len(m.path.Hops))
	before, etcd := m.path.From, oldestEtcd(m.snapshot)
	for i, version := range m.path.Hops {
		last := i == len(m.path.Hops)-1
		hop := Hop{Kubernetes: version.String()}
		release := policy.ReleaseFor(m.snapshot, m.spec, version, m.path.From, last)
		switch {
		case release != nil:
			hop.Release = &refitv1alpha1.ReleaseRef{Name: release.Name, Digest: release.Digest}
			hop.Kubernetes = release.Payload.Kubernetes
			version, _ = skew.Parse(release.Payload.Kubernetes) // validated when it was read
		case !last && version.Patch == 0 && version != m.path.From:
			hop.Kubernetes = "v" + version.MinorString() // the patch version is unknown
		}
		hop.Minor = !version.SameMinor(before)
		hop.Etcd = m.etcdMove(etcd, version, release)
		if hop.Etcd.To != "" {
			etcd = hop.Etcd.To
		}
		hops = append(hops, hop)
		before = version
	}
	return hops
}

// pools resolves the policy of each pool.
func (m *planner) pools() []Pool {
	var out []Pool
	for i := range m.spec.Pools {
		rules := &m.spec.Pools[i]
		if len(m.workers[i]) == 0 {
			continue
		}
		pool := Pool{
			Name: rules.Name, Nodes: len(m.workers[i]), MaxUnavailable: policy.MaxUnavailable(rules, m.sizes[i]),
			Canary: rules.Canary, Drain: rules.Drain, Selector: rules.NodeSelector,
		}
		for _, n := range m.workers[i] { // sorted by zone
			if n.Zone != "" && !slices.Contains(pool.Zones[max(0, len(pool.Zones)-1):], n.Zone) {
				pool.Zones = append(pool.Zones, n.Zone)
			}
		}
		out = append(out, pool)
	}
	return out
}
