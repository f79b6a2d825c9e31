package preflight

import (
	"cmp"
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// noCapacity removes the nodes with the largest requests from each pool, as many as the policy
// allows at once, and checks whether their pods fit on the other nodes.
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
	requests := make(map[string]cluster.Resources, len(nodes))
	for _, n := range nodes {
		requests[n.Name] = v.requested(n)
	}
	slices.SortStableFunc(nodes, func(a, b *node) int {
		x, y := requests[a.Name], requests[b.Name]
		return cmp.Or(cmp.Compare(y.Memory, x.Memory), cmp.Compare(y.MilliCPU, x.MilliCPU), cmp.Compare(y.Pods, x.Pods))
	})
	var drained []string
	for _, n := range nodes[:min(len(nodes), atOnce, refitv1alpha1.MaxActive)] {
		drained = append(drained, n.Name)
	}
	short, fits := v.sim.Fits(drained...)
	if fits {
		return nil
	}
	return []Finding{{
		Object: object,
		Message: fmt.Sprintf("%d of %s of %s do not fit on the other nodes by their requests (short of %d millicores and %d MiB), starting with "+
			"those of %s; this takes taints into account, but not tolerations, selectors and affinities",
			short.Pods, plural(short.Of, "pod"), joinNames(drained), short.Missing.MilliCPU, short.Missing.Memory>>20,
			workloadName(&v.s.Workloads[short.Workload])),
		Remedy: "Add a node, scale down workloads, or lower maxUnavailable of the pool. Pods that do not fit stay Pending until a node returns.",
	}}
}

// requested returns the resource requests of the pods that a drain moves.
func (v *view) requested(n *node) cluster.Resources {
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
