package progress

import (
	"slices"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// stagesOf returns the progress of each stage. Stages run in sequence: once a later one has started,
// the earlier ones are done.
func stagesOf(u *refitv1alpha1.ClusterUpgrade, ours map[string]*refitv1alpha1.NodeUpgrade) []cliv1alpha1.StageProgress {
	plan := u.Status.Plan
	hops := map[string]int{} // by version and by Release
	for i, hop := range plan.Hops {
		hops[hop.Kubernetes], hops[hop.Release.Name] = i, i
	}
	out := make([]cliv1alpha1.StageProgress, len(plan.Stages))
	for i, s := range plan.Stages {
		at := counting{hop: hops[s.Kubernetes], hops: hops, orders: ours}
		out[i] = cliv1alpha1.StageProgress{Name: string(s.Name), Kubernetes: s.Kubernetes, State: cliv1alpha1.StageWaiting, Nodes: int(s.Nodes)}
		switch s.Name {
		case refitv1alpha1.StagePrefetch:
			at.workers = i == 0 || plan.Stages[i-1].Name == refitv1alpha1.StageWorkers // workers prefetch once per upgrade of theirs
			// A node at its target version is no longer among those that prefetch.
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

// fill adds the nodes at the target version. The status counts all of them, whichever operation
// upgraded them, and the control plane is upgraded first.
func fill(stages []cliv1alpha1.StageProgress, to string, done int) {
	for i := range stages {
		s := &stages[i]
		if s.Kubernetes == to && (s.Name == string(refitv1alpha1.StageControlPlane) || s.Name == string(refitv1alpha1.StageWorkers)) {
			n := min(done, s.Nodes)
			s.Done, done = max(s.Done, n), done-n
		}
	}
}

// settle sets which stages are done and which one is in progress. Nodes are upgraded in the order of
// the stages, and only after all of them have prefetched.
func settle(stages []cliv1alpha1.StageProgress, u *refitv1alpha1.ClusterUpgrade) {
	succeeded := u.HasEnded() && u.Status.Phase == refitv1alpha1.PhaseSucceeded
	started, turn := succeeded, len(stages)
	for i := len(stages) - 1; i >= 0; i-- {
		s := &stages[i]
		if s.Name == string(refitv1alpha1.StagePrefetch) {
			continue
		}
		if started {
			s.Done = s.Nodes
		}
		started = started || s.Done > 0
		if s.Done < s.Nodes {
			turn = i
		}
	}
	found := false
	for i := range stages {
		s := &stages[i]
		if s.Name == string(refitv1alpha1.StagePrefetch) && (succeeded || len(u.Status.Active) > 0 && i < turn) {
			s.Done = s.Nodes
		}
		s.Done = min(s.Done, s.Nodes)
		switch verify := s.Name == string(refitv1alpha1.StageVerify); {
		case succeeded, s.Done == s.Nodes && !verify:
			s.State = cliv1alpha1.StageDone
		case !found && !u.HasEnded():
			s.State, found = cliv1alpha1.StageAtWork, true
		}
	}
}

// counting counts the orders that belong to a stage of a hop.
type counting struct {
	hop     int
	hops    map[string]int
	workers bool // whether those of workers belong to it
	orders  map[string]*refitv1alpha1.NodeUpgrade
}

// count returns the number of orders for this hop or a later one that match.
func (c *counting) count(matches func(order *refitv1alpha1.NodeUpgrade, later bool) bool) (n int) {
	for _, order := range c.orders {
		hop, known := c.hops[order.Spec.Release.Name]
		if known && hop >= c.hop && (c.workers || order.Spec.Role != refitv1alpha1.RoleWorker) && matches(order, hop > c.hop) {
			n++
		}
	}
	return n
}

// fetched is true if the node has prefetched everything for the hop. A worker's order is for the hop
// that it is upgraded to, which may be a later one.
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

// left is the remaining time by the plan's estimate: the share of the nodes that are not done, less
// the time that the active ones took so far. It is 0 where the operation waits for a user.
func left(u *refitv1alpha1.ClusterUpgrade, active []cliv1alpha1.NodeProgress, now time.Time) time.Duration {
	status := &u.Status
	if status.Phase != refitv1alpha1.PhaseRunning || status.Plan == nil || status.Nodes.Total == 0 {
		return 0
	}
	per := status.Plan.Estimate.Duration / time.Duration(status.Nodes.Total)
	out := per * time.Duration(status.Nodes.Total-status.Nodes.Done)
	for i := range active {
		if since := active[i].Since; active[i].Does != cliv1alpha1.DoesFetch && !since.IsZero() {
			out -= min(per, max(0, now.Sub(since)))
		}
	}
	return max(out, time.Second)
}
