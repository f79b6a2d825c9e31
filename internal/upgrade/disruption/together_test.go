package disruption_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
)

func TestMayDrainTogether(t *testing.T) {
	for _, c := range []struct {
		name string
		s    *cluster.Snapshot
		why  string // empty if they may
	}{
		{"no budget", shop(cluster.Workload{}, both), ""},
		{"enough disruptions for both", shop(cluster.Workload{}, both, budget(2)), ""},
		{
			"one disruption", shop(cluster.Workload{}, both, budget(1)),
			"worker-2 and worker-1 both have pods of PodDisruptionBudget shop/cart, which allows 1 of 2 evictions",
		},
		{
			"three disruptions, and four pods", shop(cluster.Workload{}, map[string]int32{"worker-1": 2, "worker-2": 2}, budget(3)),
			"worker-2 and worker-1 both have pods of PodDisruptionBudget shop/cart, which allows 3 of 4 evictions",
		},
		{
			"no disruption", shop(cluster.Workload{}, both, budget(0)),
			"worker-2 and worker-1 both have pods of PodDisruptionBudget shop/cart, which allows 0 of 2 evictions",
		},
		{
			"a budget with an old status", shop(cluster.Workload{}, both, budget(2, func(b *cluster.Budget) { b.Observed = false })),
			"worker-2 and worker-1 both have pods of PodDisruptionBudget shop/cart, which allows 0 of 2 evictions",
		},
		{"only one has pods of the budget", shop(cluster.Workload{}, map[string]int32{"worker-1": 3}, budget(1)), ""},
		{"unready pods need no disruption", shop(cluster.Workload{}, both, unready, budget(1, func(b *cluster.Budget) { b.AlwaysAllowUnhealthy = true })), ""},
		{"a DaemonSet stays", shop(cluster.Workload{Kind: "DaemonSet"}, both, budget(0)), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			conflict, may := disruption.Simulate(c.s).MayDrainTogether("worker-1", "worker-2")
			why := ""
			if !may {
				why = conflict.String()
			}
			if why != c.why {
				t.Errorf("got  %q\nwant %q", why, c.why)
			}
		})
	}
}

func TestSharedBudgets(t *testing.T) {
	s := shop(cluster.Workload{}, map[string]int32{"worker-1": 2, "worker-2": 1}, budget(1),
		clustertest.Pods(cluster.Workload{Namespace: "shop", Kind: "Deployment", Name: "web"}, both), clustertest.Budget("shop", "web", 2, "web"))
	want := []disruption.SharedBudget{{Budget: 0, Allowed: 1, Pods: 3, Nodes: []string{"worker-1", "worker-2"}}}
	if got := disruption.Simulate(s).SharedBudgets(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSetOfThree(t *testing.T) {
	s := clustertest.HA("v1.35.4", 3, 3,
		clustertest.Pods(cluster.Workload{Namespace: "shop", Kind: "Deployment", Name: "cart"}, map[string]int32{"worker-1": 1, "worker-2": 1, "worker-3": 1}),
		clustertest.Budget("shop", "cart", 2, "cart"))
	set := disruption.Simulate(s).Together("worker-1", "worker-2")
	if _, may := set.MayAdd("worker-3"); may {
		t.Error("three drains, and two disruptions")
	}
	if _, may := set.MayAdd("worker-2"); !may {
		t.Error("a node of the set conflicts with it")
	}
	set.Remove("worker-1")
	set.Remove("worker-1")
	if _, may := set.MayAdd("worker-3"); !may {
		t.Error("two drains conflict with two disruptions")
	}
}

// Nodes that a Set accepts never need more disruptions of a shared budget than it allows.
func TestSetAgainstCounting(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		nodes := rapid.IntRange(4, 30).Draw(r, "nodes")
		s := clustertest.Synthetic(nodes, rapid.IntRange(0, 400).Draw(r, "pods"), rapid.Uint64().Draw(r, "seed"))
		dice := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "dice"), 0))
		for i := range s.Budgets {
			s.Budgets[i].Allowed = dice.Int32N(4)
			s.Budgets[i].Observed = dice.IntN(10) > 0
		}
		sim := disruption.Simulate(s)
		set, chosen := sim.Together(), []string{}
		for range 3 * nodes {
			name := s.Nodes[dice.IntN(nodes)].Name
			if dice.IntN(4) == 0 {
				set.Remove(name)
				chosen = remove(chosen, name)
				continue
			}
			conflict, may := set.MayAdd(name)
			if want := fits(s, chosen, name); may != want {
				r.Fatalf("%s beside %v: got %t (%s), want %t", name, chosen, may, conflict, want)
			}
			if may {
				set.Add(name)
				chosen = append(remove(chosen, name), name)
			}
		}
	})
}

func remove(names []string, name string) []string {
	var out []string
	for _, n := range names {
		if n != name {
			out = append(out, n)
		}
	}
	return out
}

// fits counts by name, whereas Set counts by index.
func fits(s *cluster.Snapshot, chosen []string, name string) bool {
	if slices.Contains(chosen, name) {
		return true
	}
	for i := range s.Budgets {
		b := &s.Budgets[i]
		own, others := covered(s, name, b), int32(0)
		for _, n := range chosen {
			others += covered(s, n, b)
		}
		allowed := int32(0)
		if disruption.Judge(b) == disruption.Allows {
			allowed = b.Allowed
		}
		if own > 0 && others > 0 && own+others > allowed {
			return false
		}
	}
	return true
}

func covered(s *cluster.Snapshot, node string, b *cluster.Budget) int32 {
	total := int32(0)
	for _, set := range s.Node(node).Pods {
		w := &s.Workloads[set.Workload]
		for _, name := range w.Budgets {
			if w.Moves() && w.Namespace == b.Namespace && name == b.Name {
				total += set.Count
			}
		}
	}
	return total
}

func BenchmarkSimulate(b *testing.B) {
	s := clustertest.Synthetic(5000, 150_000, 1)
	b.ReportAllocs()
	for b.Loop() {
		disruption.Simulate(s).SharedBudgets() // which drains every node
	}
}

// BenchmarkWindow fills a window of 256 of 5,000 nodes.
func BenchmarkWindow(b *testing.B) {
	s := clustertest.Synthetic(5000, 150_000, 1)
	sim := disruption.Simulate(s)
	b.ReportAllocs()
	for b.Loop() {
		set := sim.Together()
		free := 256
		for i := range s.Nodes {
			if _, may := set.MayAdd(s.Nodes[i].Name); may && free > 0 {
				set.Add(s.Nodes[i].Name)
				free--
			}
		}
	}
}

func BenchmarkFits(b *testing.B) {
	s := clustertest.Synthetic(5000, 150_000, 1)
	sim := disruption.Simulate(s)
	var drained []string
	for i := range 256 {
		drained = append(drained, fmt.Sprintf("worker-%d", i+1))
	}
	for b.Loop() {
		sim.Fits(drained...)
	}
}
