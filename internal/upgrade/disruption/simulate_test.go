package disruption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
)

// shop is a cluster of three control plane nodes and two workers with another workload.
func shop(w cluster.Workload, on map[string]int32, changes ...clustertest.Change) *cluster.Snapshot {
	if w.Name == "" {
		w.Namespace, w.Name = "shop", "cart"
	}
	if w.Kind == "" {
		w.Kind = "Deployment"
	}
	return clustertest.HA("v1.35.4", 3, 2, append([]clustertest.Change{clustertest.Pods(w, on)}, changes...)...)
}

func budget(allowed int32, f ...func(*cluster.Budget)) clustertest.Change {
	return func(s *cluster.Snapshot) {
		clustertest.Budget("shop", "cart", allowed, "cart")(s)
		for _, g := range f {
			g(&s.Budgets[len(s.Budgets)-1])
		}
	}
}

// unready makes the pod on worker-1 unready.
func unready(s *cluster.Snapshot) {
	n := s.Node("worker-1")
	n.Pods[len(n.Pods)-1].Unready = 1
}

// free makes a pod on worker-1 evictable whatever its budget allows.
func free(s *cluster.Snapshot) {
	n := s.Node("worker-1")
	n.Pods[len(n.Pods)-1].Free = 1
}

var both = map[string]int32{"worker-1": 1, "worker-2": 1}

func TestJudge(t *testing.T) {
	healthy := cluster.Budget{Expected: 3, Healthy: 3, Desired: 2, Allowed: 1, Observed: true}
	for _, c := range []struct {
		name   string
		change func(*cluster.Budget)
		want   disruption.Verdict
	}{
		{"it allows one disruption", func(*cluster.Budget) {}, disruption.Allows},
		{"it requires all pods", func(b *cluster.Budget) { b.Desired, b.Allowed = 3, 0 }, disruption.NeverAllows},
		{"it requires more pods than there are", func(b *cluster.Budget) { b.Desired, b.Allowed = 5, 0 }, disruption.NeverAllows},
		{"it requires all pods, and a rollout adds one", func(b *cluster.Budget) { b.Healthy, b.Desired = 4, 3 }, disruption.NeverAllows},
		{"a pod is unhealthy", func(b *cluster.Budget) { b.Healthy, b.Allowed = 2, 0 }, disruption.Exhausted},
		{"it selects no pods", func(b *cluster.Budget) { *b = cluster.Budget{Observed: true} }, disruption.Exhausted},
		{"its pods cannot be counted", func(b *cluster.Budget) { b.Failure = "no controller" }, disruption.Failed},
		{"its status is old", func(b *cluster.Budget) { b.Observed = false }, disruption.Unobserved},
	} {
		b := healthy
		c.change(&b)
		if got := disruption.Judge(&b); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestDrain(t *testing.T) {
	const cart = 6 // after the system workloads
	type drain = disruption.NodeDrain
	for _, c := range []struct {
		name string
		s    *cluster.Snapshot
		want drain
	}{
		{"system pods only", clustertest.HA("v1.35.4", 3, 2), drain{Moves: 1}},
		{"no budget", shop(cluster.Workload{GraceSeconds: 30}, map[string]int32{"worker-1": 3}), drain{Moves: 4, Estimate: 30 * time.Second}},
		{"a DaemonSet stays", shop(cluster.Workload{Kind: "DaemonSet"}, both, budget(0)), drain{Moves: 1}},
		{"a static pod stays", shop(cluster.Workload{Kind: "Node"}, both), drain{Moves: 1}},
		{"Refit's controller stays", shop(cluster.Workload{Namespace: "refit-system", Name: "refit-controller"}, both), drain{Moves: 1}},
		{"refit-components stays", shop(cluster.Workload{Namespace: "refit-components", Name: "refit-components"}, both), drain{Moves: 1}},
		{"a budget that never allows", shop(cluster.Workload{}, both, budget(0)), drain{
			Moves: 2, Blockers: []disruption.Blocker{{Kind: disruption.BudgetNeverAllows, Workload: cart, Pods: 1, Permanent: true}},
		}},
		{"a budget that never allows, with AlwaysAllow for unready pods", shop(cluster.Workload{}, both, unready,
			budget(0, func(b *cluster.Budget) { b.Healthy, b.AlwaysAllowUnhealthy = 1, true })), drain{Moves: 2}},
		{"too few healthy pods: an unready pod stays", shop(cluster.Workload{}, both, unready,
			budget(1, func(b *cluster.Budget) { b.Healthy, b.Allowed, b.Desired = 0, 0, 1 })), drain{
			Moves: 2, Blockers: []disruption.Blocker{{Kind: disruption.BudgetExhausted, Workload: cart, Pods: 1}},
		}},
		{"enough healthy pods: an unready pod may be evicted", shop(cluster.Workload{}, both, unready,
			budget(1, func(b *cluster.Budget) { b.Healthy, b.Allowed, b.Desired = 1, 0, 1 })), drain{Moves: 2}},
		{
			"it requires nothing and nothing is healthy: the API allows nothing",
			shop(cluster.Workload{}, both, unready, budget(2, func(b *cluster.Budget) { b.Healthy, b.Allowed, b.Desired = 0, 0, 0 })),
			drain{
				Moves: 2, Blockers: []disruption.Blocker{{Kind: disruption.BudgetExhausted, Workload: cart, Pods: 1}},
			},
		},
		{"a budget whose pods cannot be counted", shop(cluster.Workload{}, both, budget(1, func(b *cluster.Budget) { b.Failure = "no controller" })), drain{
			Moves: 2, Blockers: []disruption.Blocker{{Kind: disruption.BudgetFailed, Workload: cart, Pods: 1, Permanent: true}},
		}},
		{"a budget with an old status", shop(cluster.Workload{}, both, budget(1, func(b *cluster.Budget) { b.Observed = false })), drain{
			Moves: 2, Blockers: []disruption.Blocker{{Kind: disruption.BudgetUnobserved, Workload: cart, Pods: 1}},
		}},
		{"two budgets", shop(cluster.Workload{}, both, budget(1), clustertest.Budget("shop", "all", 1, "cart")), drain{
			Moves: 2, Blockers: []disruption.Blocker{{Kind: disruption.BudgetsOverlap, Workload: cart, Pods: 1, Permanent: true}},
		}},
		{"a budget allows one eviction at a time", shop(cluster.Workload{GraceSeconds: 30}, map[string]int32{"worker-1": 3, "worker-2": 2}, budget(1)), drain{
			Moves: 4, Estimate: 3 * time.Minute,
			Waits: []disruption.Wait{{Pods: 3, Allowed: 1, Rounds: 3, Time: 3 * time.Minute}},
		}},
		{"a budget allows two evictions at a time", shop(cluster.Workload{GraceSeconds: 30}, map[string]int32{"worker-1": 3, "worker-2": 2}, budget(2)), drain{
			Moves: 4, Estimate: 2 * time.Minute,
			Waits: []disruption.Wait{{Pods: 3, Allowed: 2, Rounds: 2, Time: 2 * time.Minute}},
		}},
		{
			"a budget lets them go at once", shop(cluster.Workload{GraceSeconds: 30}, map[string]int32{"worker-1": 3, "worker-2": 2}, budget(3)),
			drain{Moves: 4, Estimate: 30 * time.Second},
		},
		{"bound to the node, and a budget allows one of two evictions", shop(cluster.Workload{NodeBound: true}, map[string]int32{"worker-1": 2, "worker-2": 1}, budget(1)), drain{
			Moves: 3, Estimate: time.Minute, Waits: []disruption.Wait{{Pods: 2, Allowed: 1, Rounds: 2, Time: time.Minute}},
			Blockers: []disruption.Blocker{{Kind: disruption.BudgetWaitsForNode, Workload: cart, Pods: 2, Permanent: true}},
			Costs:    []disruption.Cost{{Kind: disruption.StaysDown, Workload: cart, Pods: 2}},
		}},
		{"every cost of a drain", shop(cluster.Workload{
			Kind: "Pod", LocalData: true, LocalVolume: true, Finalizers: []string{"shop.example/cleanup"}, SafeToEvict: cluster.No,
		}, both), drain{Moves: 2, Costs: []disruption.Cost{
			{Kind: disruption.Lost, Workload: cart, Pods: 1},
			{Kind: disruption.LosesData, Workload: cart, Pods: 1},
			{Kind: disruption.StaysDown, Workload: cart, Pods: 1},
			{Kind: disruption.HasFinalizer, Workload: cart, Pods: 1},
			{Kind: disruption.NotSafeToEvict, Workload: cart, Pods: 1},
		}}},
		{"a budget that never allows, and a pod that never started", shop(cluster.Workload{}, both, free, budget(0)), drain{Moves: 2}},
		{"two budgets, and a terminating pod", shop(cluster.Workload{}, both, free, budget(1), clustertest.Budget("shop", "all", 1, "cart")), drain{Moves: 2}},
		{"two budgets, and one of two pods is terminating", shop(cluster.Workload{}, map[string]int32{"worker-1": 2}, free,
			budget(1), clustertest.Budget("shop", "all", 1, "cart")), drain{
			Moves: 3, Blockers: []disruption.Blocker{{Kind: disruption.BudgetsOverlap, Workload: cart, Pods: 1, Permanent: true}},
		}},
		{"bound to the node, one of two terminating, and a budget allows one eviction", shop(cluster.Workload{NodeBound: true}, map[string]int32{"worker-1": 2}, free, budget(1)), drain{
			Moves: 3, Costs: []disruption.Cost{{Kind: disruption.StaysDown, Workload: cart, Pods: 2}},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := disruption.Simulate(c.s).Node("worker-1")
			if got.Node != "worker-1" {
				t.Errorf("got the drain of %s", got.Node)
			}
			if found, want := format(got), format(&c.want); found != want {
				t.Errorf("got  %s\nwant %s", found, want)
			}
		})
	}
}

// format formats a drain without its private fields.
func format(d *disruption.NodeDrain) string {
	return fmt.Sprintf("moves %d, estimate %s, blockers %+v, costs %+v, waits %+v", d.Moves, d.Estimate, d.Blockers, d.Costs, d.Waits)
}

func TestBlocked(t *testing.T) {
	for _, c := range []struct {
		name         string
		s            *cluster.Snapshot
		now, forever bool
	}{
		{"allowed", shop(cluster.Workload{}, both, budget(1)), false, false},
		{"exhausted", shop(cluster.Workload{}, both, budget(1, func(b *cluster.Budget) { b.Healthy, b.Allowed = 1, 0 })), true, false},
		{"never allowed", shop(cluster.Workload{}, both, budget(0)), true, true},
	} {
		if now, forever := disruption.Simulate(c.s).Node("worker-1").Blocked(); now != c.now || forever != c.forever {
			t.Errorf("%s: got %t, %t", c.name, now, forever)
		}
	}
}

func TestUnknownNode(t *testing.T) {
	sim := disruption.Simulate(clustertest.HA("v1.35.4", 3, 2))
	if sim.Node("gone") != nil {
		t.Error("an unknown node has a drain")
	}
	if _, may := sim.MayDrainTogether("gone", "worker-1"); !may {
		t.Error("an unknown node conflicts with another one")
	}
}
