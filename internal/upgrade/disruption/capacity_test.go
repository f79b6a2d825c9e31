package disruption_test

import (
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
)

func TestFits(t *testing.T) {
	const gib = 1 << 30
	requests := func(cpu, memory int64) cluster.Workload {
		return cluster.Workload{Request: cluster.Resources{MilliCPU: cpu, Memory: memory}}
	}
	taint := func(name, key string) clustertest.Change {
		return clustertest.OnNode(name, func(n *cluster.Node) { n.Taints = append(n.Taints, cluster.Taint{Key: key, Effect: "NoSchedule"}) })
	}
	// One pod with a toleration on worker-1; worker-2 has the taint gpu=a100:NoSchedule.
	tolerant := func(tolerations ...cluster.Toleration) *cluster.Snapshot {
		w := requests(100, gib)
		w.Tolerations = tolerations
		return shop(w, map[string]int32{"worker-1": 1}, clustertest.OnNode("worker-2", func(n *cluster.Node) {
			n.Taints = append(n.Taints, cluster.Taint{Key: "gpu", Value: "a100", Effect: "NoSchedule"})
		}))
	}
	dns := disruption.Shortage{Pods: 1, Of: 2, Workload: 1, Missing: cluster.Resources{MilliCPU: 100, Memory: 70 << 20, Pods: 1}} // has no toleration
	both := disruption.Shortage{Pods: 2, Of: 2, Workload: 6, Missing: cluster.Resources{MilliCPU: 200, Memory: gib + 70<<20, Pods: 2}}
	for _, c := range []struct {
		name    string
		s       *cluster.Snapshot
		drained []string
		want    disruption.Shortage // each worker has a CoreDNS pod
	}{
		{"system pods only", clustertest.HA("v1.35.4", 3, 2), []string{"worker-1"}, disruption.Shortage{Of: 1}},
		{"enough capacity", shop(requests(1000, 4*gib), map[string]int32{"worker-1": 3}), []string{"worker-1"}, disruption.Shortage{Of: 4}},
		{
			"no memory for one of two", shop(requests(100, 10*gib), map[string]int32{"worker-1": 2}),
			[]string{"worker-1"},
			disruption.Shortage{Pods: 1, Of: 3, Workload: 6, Missing: cluster.Resources{MilliCPU: 100, Memory: 10 * gib, Pods: 1}},
		},
		{
			"no processor for one of two", shop(requests(3000, gib), map[string]int32{"worker-1": 2}),
			[]string{"worker-1"},
			disruption.Shortage{Pods: 1, Of: 3, Workload: 6, Missing: cluster.Resources{MilliCPU: 3000, Memory: gib, Pods: 1}},
		},
		{
			"too many pods", shop(cluster.Workload{}, map[string]int32{"worker-1": 100, "worker-2": 100}),
			[]string{"worker-1"},
			disruption.Shortage{Pods: 93, Of: 101, Workload: 6, Missing: cluster.Resources{Pods: 93}},
		},
		{
			"the other node is cordoned", shop(requests(100, gib), map[string]int32{"worker-1": 1}, clustertest.OnNode("worker-2", func(n *cluster.Node) { n.Unschedulable = true })),
			[]string{"worker-1"},
			disruption.Shortage{Pods: 2, Of: 2, Workload: 6, Missing: cluster.Resources{MilliCPU: 200, Memory: gib + 70<<20, Pods: 2}},
		},
		{
			"the other node has another taint", shop(requests(100, gib), map[string]int32{"worker-1": 1}, taint("worker-2", "gpu")),
			[]string{"worker-1"},
			disruption.Shortage{Pods: 2, Of: 2, Workload: 6, Missing: cluster.Resources{MilliCPU: 200, Memory: gib + 70<<20, Pods: 2}},
		},
		{
			"the other node has the same taint", shop(requests(100, gib), map[string]int32{"worker-1": 1}, taint("worker-1", "gpu"), taint("worker-2", "gpu")),
			[]string{"worker-1"},
			disruption.Shortage{Of: 2},
		},
		{"a toleration of the taint", tolerant(cluster.Toleration{Key: "gpu", Value: "a100", Effect: "NoSchedule"}), []string{"worker-1"}, dns},
		{"a toleration of every effect", tolerant(cluster.Toleration{Key: "gpu", Value: "a100"}), []string{"worker-1"}, dns},
		{"a toleration of every value", tolerant(cluster.Toleration{Key: "gpu", Exists: true, Effect: "NoSchedule"}), []string{"worker-1"}, dns},
		{"a toleration of everything", tolerant(cluster.Toleration{Exists: true}), []string{"worker-1"}, dns},
		{"the second of two tolerations", tolerant(cluster.Toleration{Key: "x"}, cluster.Toleration{Key: "gpu", Exists: true}), []string{"worker-1"}, dns},
		{"a toleration of another value", tolerant(cluster.Toleration{Key: "gpu", Value: "h100"}), []string{"worker-1"}, both},
		{"a toleration of another effect", tolerant(cluster.Toleration{Key: "gpu", Exists: true, Effect: "NoExecute"}), []string{"worker-1"}, both},
		{"a toleration of another key", tolerant(cluster.Toleration{Key: "fpga", Exists: true}), []string{"worker-1"}, both},
		{"a toleration of no key", tolerant(cluster.Toleration{Value: "a100"}), []string{"worker-1"}, both},
		{"pods of the control plane move to workers", clustertest.HA("v1.35.4", 3, 2,
			clustertest.Pods(cluster.Workload{Namespace: "shop", Kind: "Deployment", Name: "x"}, map[string]int32{"cp-1": 2})), []string{"cp-1"}, disruption.Shortage{Of: 2}},
		{
			"bound pods wait for their node", shop(cluster.Workload{NodeBound: true, Request: cluster.Resources{Memory: 15 * gib}}, map[string]int32{"worker-1": 1, "worker-2": 1}),
			[]string{"worker-1"},
			disruption.Shortage{Of: 2},
		},
		{
			"both workers", shop(requests(100, gib), map[string]int32{"worker-1": 1}),
			[]string{"worker-1", "worker-2"},
			disruption.Shortage{Pods: 3, Of: 3, Workload: 6, Missing: cluster.Resources{MilliCPU: 300, Memory: gib + 140<<20, Pods: 3}},
		},
		{"an unknown node", clustertest.HA("v1.35.4", 3, 2), []string{"gone"}, disruption.Shortage{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fits := disruption.Simulate(c.s).Fits(c.drained...)
			if got != c.want || fits != (c.want.Pods == 0) {
				t.Errorf("fits %t\ngot  %+v\nwant %+v", fits, got, c.want)
			}
		})
	}
}
