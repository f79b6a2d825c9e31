package progress

import (
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

func planOf(p *plan.Plan) *cliv1alpha1.Plan {
	out := &cliv1alpha1.Plan{
		Hash: p.Hash, From: p.From, WorkersFrom: p.WorkersFrom, To: p.To,
		Hops: []cliv1alpha1.Hop{}, Stages: []cliv1alpha1.Stage{}, // never null
		Estimate: estimateOf(p.Estimate),
	}
	for _, hop := range p.Hops {
		out.Hops = append(out.Hops, hopOf(hop))
	}
	for _, stage := range p.Stages {
		out.Stages = append(out.Stages, stageOf(stage))
	}
	for _, pool := range p.Pools {
		out.Pools = append(out.Pools, poolOf(pool))
	}
	for _, left := range p.Excluded {
		out.LeftOut = append(out.LeftOut, cliv1alpha1.LeftOut(left))
	}
	for _, note := range p.Notes {
		out.Notes = append(out.Notes, cliv1alpha1.Note(note))
	}
	return out
}

func hopOf(h plan.Hop) cliv1alpha1.Hop {
	out := cliv1alpha1.Hop{Kubernetes: h.Kubernetes, Minor: h.Minor}
	if h.Release != nil {
		out.Release = &cliv1alpha1.Release{Name: h.Release.Name, Digest: h.Release.Digest}
	}
	if h.Etcd != (plan.EtcdMove{}) {
		out.Etcd = &cliv1alpha1.EtcdMove{From: h.Etcd.From, To: h.Etcd.To, Reason: h.Etcd.Reason}
	}
	return out
}

func stageOf(s plan.Stage) cliv1alpha1.Stage {
	out := cliv1alpha1.Stage{Name: string(s.Name), Hop: s.Hop, Kubernetes: s.Kubernetes, Reason: s.Reason, Estimate: estimateOf(s.Estimate)}
	for _, step := range s.Nodes {
		node := cliv1alpha1.Node{
			Name: step.Node, Pool: step.Pool, Zone: step.Zone, From: step.From, Drain: step.Drain, Canary: step.Canary,
			Moves: step.Moves, Reason: step.Reason, Estimate: estimateOf(step.Estimate),
		}
		for _, apart := range step.Conflicts {
			node.Apart = append(node.Apart, cliv1alpha1.Apart(apart))
		}
		out.Nodes = append(out.Nodes, node)
	}
	for i := range s.Components {
		out.Components = append(out.Components, componentOf(&s.Components[i]))
	}
	return out
}

func componentOf(c *plan.ComponentStep) cliv1alpha1.Component {
	out := cliv1alpha1.Component{
		Name: c.Component, Action: string(c.Action), From: c.From, To: c.To, Reason: c.Reason, Digest: c.Digest, Estimate: estimateOf(c.Estimate),
	}
	if offer := c.Offer; offer != nil {
		out.Changes = changesOf(offer)
	}
	return out
}

func poolOf(p plan.Pool) cliv1alpha1.Pool {
	out := cliv1alpha1.Pool{
		Name: p.Name, Selector: p.Selector, Nodes: p.Nodes, MaxUnavailable: p.MaxUnavailable, Zones: p.Zones,
		Drain:    cliv1alpha1.Drain{When: string(p.Drain.When), TimeoutSeconds: seconds(p.Drain.Timeout.Duration), OnBlocked: string(p.Drain.OnBlocked)},
		Estimate: estimateOf(p.Estimate),
	}
	if p.Canary != nil {
		out.Canary = &cliv1alpha1.Canary{Nodes: p.Canary.Nodes, SoakSeconds: seconds(p.Canary.Soak.Duration)}
	}
	return out
}

func estimateOf(e plan.Estimate) cliv1alpha1.Estimate {
	return cliv1alpha1.Estimate{Seconds: seconds(e.Expected), Observed: e.Observed}
}

func seconds(d time.Duration) int64 { return int64(d.Round(time.Second) / time.Second) }
