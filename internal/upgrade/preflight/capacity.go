package preflight

import (
	"cmp"
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// noCapacity takes away the nodes of each pool that are the hardest to do without, as many as the policy allows, and looks whether their pods fit elsewhere.
func noCapacity(v *view) []Finding {
	var controlPlane, workers [][]*node
	for i := range v.pools {
		workers = append(workers, v.drainedOf(i))
	}
	controlPlane = append(controlPlane, v.drainedOf(-1))
	var found []Finding
	for i, nodes := range workers {
		found = append(found, v.shortage(nodes, v.pools[i].maxUnavailable, "Pool "+v.pools[i].Name)...)
	}
	return append(found, v.shortage(controlPlane[0], 1, "control plane")...)
}

func (v *view) drainedOf(pool int) []*node {
	var out []*node
	for i := range v.nodes {
		if n := &v.nodes[i]; n.drained && n.pool == pool && n.moves.Moves > 0 {
			out = append(out, n)
		}
	}
	return out
}

func (v *view) shortage(nodes []*node, atOnce int, object string) []Finding {
	if len(nodes) == 0 || !slices.ContainsFunc(v.s.Nodes, func(n cluster.Node) bool { return n.Allocatable.Pods > 0 }) {
		return nil
	}
	ask := make(map[string]cluster.Resources, len(nodes))
	for _, n := range nodes {
		ask[n.Name] = v.asked(n)
	}
	slices.SortStableFunc(nodes, func(a, b *node) int {
		x, y := ask[a.Name], ask[b.Name]
		return cmp.Or(cmp.Compare(y.Memory, x.Memory), cmp.Compare(y.MilliCPU, x.MilliCPU), cmp.Compare(y.Pods, x.Pods))
	})
	var away []string
	for _, n := range nodes[:min(len(nodes), atOnce, refitv1alpha1.MaxActive)] {
		away = append(away, n.Name)
	}
	short, fits := v.sim.Fits(away...)
	if fits {
		return nil
	}
	return []Finding{{
		Object: object,
		Message: fmt.Sprintf("%d of %s of %s find no room on the other nodes by their requests (%d millicores and %d MiB too little), first "+
			"those of %s; taints are counted, selectors and affinities are not",
			short.Pods, many(short.Of, "pod"), some(away), short.Missing.MilliCPU, short.Missing.Memory>>20, workloadName(&v.s.Workloads[short.Workload])),
		Remedy: "Add a node, scale something down, or lower maxUnavailable of the pool. Pods without room wait until a node is back.",
	}}
}

// asked is what the pods that a drain moves ask for.
func (v *view) asked(n *node) cluster.Resources {
	var sum cluster.Resources
	for _, set := range n.Pods {
		if set.Workload < 0 || set.Workload >= len(v.s.Workloads) || !v.s.Workloads[set.Workload].Moves() {
			continue
		}
		request := v.s.Workloads[set.Workload].Request
		sum.MilliCPU += request.MilliCPU * int64(set.Count)
		sum.Memory += request.Memory * int64(set.Count)
		sum.Pods += int64(set.Count)
	}
	return sum
}
