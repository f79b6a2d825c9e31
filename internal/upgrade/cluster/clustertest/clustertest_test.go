package clustertest_test

import (
	"reflect"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

func TestSyntheticHasTheRequestedSize(t *testing.T) {
	s := clustertest.Synthetic(5000, 30000, 7)
	if len(s.Nodes) != 5000 || len(s.ControlPlane()) != 3 {
		t.Errorf("got %d nodes, %d of them control plane nodes", len(s.Nodes), len(s.ControlPlane()))
	}
	onNodes, ofWorkloads := podsOn(s.Nodes), 0
	for i := range s.Workloads {
		ofWorkloads += int(s.Workloads[i].Pods)
	}
	if ofWorkloads != 30000 || onNodes != ofWorkloads {
		t.Errorf("workloads have %d pods, nodes %d", ofWorkloads, onNodes)
	}
	names := map[string]bool{}
	for i := range s.Nodes {
		names[s.Nodes[i].Name] = true
	}
	if len(names) != len(s.Nodes) {
		t.Errorf("%d nodes have %d names", len(s.Nodes), len(names))
	}
	if exhausted := exhausted(s.Budgets); len(s.Budgets) < 100 || exhausted == 0 {
		t.Errorf("%d PDBs, %d of them allow no disruption", len(s.Budgets), exhausted)
	}
	if !reflect.DeepEqual(s, clustertest.Synthetic(5000, 30000, 7)) {
		t.Error("the same seed gives another cluster")
	}
	if reflect.DeepEqual(s.Workloads, clustertest.Synthetic(5000, 30000, 8).Workloads) {
		t.Error("another seed gives the same workloads")
	}
}

func TestSyntheticWithFewNodes(t *testing.T) {
	for _, nodes := range []int{3, 4} {
		if s := clustertest.Synthetic(nodes, 100, 1); podsOn(s.Nodes) != 100 {
			t.Errorf("%d nodes have %d pods", nodes, podsOn(s.Nodes))
		}
	}
}

func TestChangeCanBeAppliedTwice(t *testing.T) {
	cart := clustertest.Pods(cluster.Workload{Namespace: "shop", Kind: "Deployment", Name: "cart"}, map[string]int32{"worker-1": 2})
	for range 2 {
		s := clustertest.HA("v1.35.4", 1, 1, cart)
		if w := s.Workloads[len(s.Workloads)-1]; w.Pods != 2 || w.Ready != 2 {
			t.Errorf("got %d pods, %d of them ready", w.Pods, w.Ready)
		}
	}
}

func podsOn(nodes []cluster.Node) int {
	total := 0
	for i := range nodes {
		for _, set := range nodes[i].Pods {
			total += int(set.Count)
		}
	}
	return total
}

func exhausted(budgets []cluster.Budget) int {
	found := 0
	for _, b := range budgets {
		if b.Allowed == 0 {
			found++
		}
	}
	return found
}
