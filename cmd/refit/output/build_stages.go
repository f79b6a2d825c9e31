package output

import (
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// stagesOf is how far each stage is. Stages run one after the other: when a later one has begun, the earlier ones are done.
func stagesOf(u *refitv1alpha1.ClusterUpgrade, ours map[string]*refitv1alpha1.NodeUpgrade) []StageProgress {
	plan := u.Status.Plan
	hops := map[string]int{} // by version and by Release
	for i, hop := range plan.Hops {
		hops[hop.Kubernetes], hops[hop.Release.Name] = i, i
	}
	out := make([]StageProgress, len(plan.Stages))
	for i, s := range plan.Stages {
		at := counting{hop: hops[s.Kubernetes], hops: hops, orders: ours}
		out[i] = StageProgress{Name: string(s.Name), Kubernetes: s.Kubernetes, State: StageWaiting, Nodes: int(s.Nodes)}
		switch s.Name {
		case refitv1alpha1.StagePrefetch:
			at.workers = i == 0 || plan.Stages[i-1].Name == refitv1alpha1.StageWorkers // they fetch once for each time that they move
			// A node that is at its version is no longer among those that have to fetch.
			out[i].Nodes = max(out[i].Nodes, at.count(func(*refitv1alpha1.NodeUpgrade, bool) bool { return true }))
			out[i].Done = at.count(fetched)
		case refitv1alpha1.StageControlPlane:
			out[i].Done = at.count(func(order *refitv1alpha1.NodeUpgrade, later bool) bool {
				return later || changed(order) && !slices.Contains(u.Status.Active, order.Name)
			})
		case refitv1alpha1.StageWorkers, refitv1alpha1.StageVerify:
		}
	}
	fill(out, plan.To, int(u.Status.Nodes.Done))
	settle(out, u)
	return out
}

// fill adds the nodes that are at the target: the status counts them all, whichever operation brought them there, and the control plane goes first.
func fill(stages []StageProgress, to string, done int) {
	for i := range stages {
		s := &stages[i]
		if s.Kubernetes == to && (s.Name == string(refitv1alpha1.StageControlPlane) || s.Name == string(refitv1alpha1.StageWorkers)) {
			n := min(done, s.Nodes)
			s.Done, done = max(s.Done, n), done-n
		}
	}
}

// settle says which stages are done and which one is at work. Nodes change in the order of the stages, and only when all have fetched what they need for it.
func settle(stages []StageProgress, u *refitv1alpha1.ClusterUpgrade) {
	succeeded := u.HasEnded() && u.Status.Phase == refitv1alpha1.PhaseSucceeded
	begun, turn := succeeded, len(stages)
	for i := len(stages) - 1; i >= 0; i-- {
		s := &stages[i]
		if s.Name == string(refitv1alpha1.StagePrefetch) {
			continue
		}
		if begun {
			s.Done = s.Nodes
		}
		begun = begun || s.Done > 0
		if s.Done < s.Nodes {
			turn = i
		}
	}
	atWork := false
	for i := range stages {
		s := &stages[i]
		if s.Name == string(refitv1alpha1.StagePrefetch) && (succeeded || len(u.Status.Active) > 0 && i < turn) {
			s.Done = s.Nodes
		}
		s.Done = min(s.Done, s.Nodes)
		switch verify := s.Name == string(refitv1alpha1.StageVerify); {
		case succeeded, s.Done == s.Nodes && !verify:
			s.State = StageDone
		case !atWork && !u.HasEnded():
			s.State, atWork = StageAtWork, true
		}
	}
}

// counting counts orders that belong to a stage of a hop.
type counting struct {
	hop     int
	hops    map[string]int
	workers bool // whether they belong to it, too
	orders  map[string]*refitv1alpha1.NodeUpgrade
}

// count counts the orders for this hop, or for a later one, that are so.
func (c *counting) count(is func(order *refitv1alpha1.NodeUpgrade, later bool) bool) (n int) {
	for _, order := range c.orders {
		hop, known := c.hops[order.Spec.Release.Name]
		if known && hop >= c.hop && (c.workers || order.Spec.Role != refitv1alpha1.RoleWorker) && is(order, hop > c.hop) {
			n++
		}
	}
	return n
}

// fetched says whether the node has all that it needs for the hop. A worker's order is for the hop that it goes to, which may be a later one.
func fetched(order *refitv1alpha1.NodeUpgrade, later bool) bool {
	if later && order.Spec.Role != refitv1alpha1.RoleWorker {
		return true
	}
	switch order.Spec.Permit {
	case refitv1alpha1.PermitApply, refitv1alpha1.PermitRollback:
		return true
	case refitv1alpha1.PermitHold, refitv1alpha1.PermitPrefetch:
	}
	return order.Status.Phase == refitv1alpha1.NodePrefetched || order.Status.Phase == refitv1alpha1.NodeSucceeded
}

func changed(order *refitv1alpha1.NodeUpgrade) bool {
	return order.Spec.Permit == refitv1alpha1.PermitApply && answered(order) && order.Status.Phase == refitv1alpha1.NodeSucceeded
}

// left is how long it takes on by the estimate of the plan: the share of the nodes that are not done, less what those at work have behind them. It is 0 where
// that says nothing: nobody knows how long a person takes.
func left(u *refitv1alpha1.ClusterUpgrade, active []NodeProgress, now time.Time) time.Duration {
	status := &u.Status
	if status.Phase != refitv1alpha1.PhaseRunning || status.Plan == nil || status.Nodes.Total == 0 {
		return 0
	}
	per := status.Plan.Estimate.Duration / time.Duration(status.Nodes.Total)
	out := per * time.Duration(status.Nodes.Total-status.Nodes.Done)
	for i := range active {
		if since := active[i].Since; active[i].Does != DoesFetch && !since.IsZero() {
			out -= min(per, max(0, now.Sub(since)))
		}
	}
	return max(out, time.Second)
}
