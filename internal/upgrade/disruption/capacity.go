package disruption

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// capacity is what each node has left, by the requests of its pods.
type capacity struct {
	free []cluster.Resources // by node
	open []bool              // by node: ready and schedulable
	// class is the index of a node's taints in taints: few nodes have taints of their own.
	class  []int
	taints [][]cluster.Taint
}

// Shortage is what does not fit on the other nodes. The zero value means that everything fits.
type Shortage struct {
	Pods     int32             // that do not fit
	Of       int32             // that have to move
	Workload int               // index of the first of them
	Missing  cluster.Resources // the sum of their requests
}

// Fits places the pods of the drained nodes on the others, the largest first, each on the node with
// the most free memory. It considers requests, taints and tolerations only: a pod also tolerates
// the taints of its own node.
func (sim *Simulation) Fits(drained ...string) (Shortage, bool) {
	left := measure(sim.snapshot)
	gone := map[int]bool{}
	for _, name := range drained {
		if i, ok := sim.byName[name]; ok {
			gone[i] = true
		}
	}
	var short Shortage
	for i := range sim.snapshot.Nodes {
		if gone[i] {
			place(sim.snapshot, i, gone, left, &short)
		}
	}
	return short, short.Pods == 0
}

func measure(s *cluster.Snapshot) capacity {
	r := capacity{free: make([]cluster.Resources, len(s.Nodes)), open: make([]bool, len(s.Nodes)), class: make([]int, len(s.Nodes))}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		r.open[i] = n.IsReady() && !n.Unschedulable
		r.free[i] = n.Allocatable
		r.class[i] = r.classOf(n.Taints)
		for _, set := range n.Pods {
			if set.Workload < 0 || set.Workload >= len(s.Workloads) {
				continue
			}
			request := s.Workloads[set.Workload].Request
			r.free[i].MilliCPU -= request.MilliCPU * int64(set.Count)
			r.free[i].Memory -= request.Memory * int64(set.Count)
			r.free[i].Pods -= int64(set.Count)
		}
	}
	return r
}

// classOf returns the index of taints.
func (r *capacity) classOf(taints []cluster.Taint) int {
	at := slices.IndexFunc(r.taints, func(known []cluster.Taint) bool { return slices.Equal(known, taints) })
	if at < 0 {
		at, r.taints = len(r.taints), append(r.taints, taints)
	}
	return at
}

// accepts returns which classes of nodes accept the pods of a workload on a node.
func (r *capacity) accepts(w *cluster.Workload, known []cluster.Taint) []bool {
	out := make([]bool, len(r.taints))
	for i, taints := range r.taints {
		out[i] = tolerated(taints, known, w.Tolerations)
	}
	return out
}

// hosts returns the nodes of the accepted classes.
func (r *capacity) hosts(gone map[int]bool, accepted []bool) *hosts {
	to := &hosts{free: r.free}
	for i := range r.free {
		if !gone[i] && r.open[i] && accepted[r.class[i]] {
			to.nodes = append(to.nodes, i)
		}
	}
	heap.Init(to)
	return to
}

// place places the pods of one node.
func place(s *cluster.Snapshot, from int, gone map[int]bool, left capacity, short *Shortage) {
	var (
		to       *hosts
		accepted []bool // by to
	)
	var sets []cluster.PodSet
	for _, set := range s.Nodes[from].Pods {
		if set.Workload >= 0 && set.Workload < len(s.Workloads) && s.Workloads[set.Workload].Moves() {
			sets = append(sets, set)
		}
	}
	slices.SortStableFunc(sets, func(a, b cluster.PodSet) int {
		x, y := s.Workloads[a.Workload].Request, s.Workloads[b.Workload].Request
		if x.Memory != y.Memory {
			return cmp.Compare(y.Memory, x.Memory)
		}
		return cmp.Compare(y.MilliCPU, x.MilliCPU)
	})
	for _, set := range sets {
		w := &s.Workloads[set.Workload]
		short.Of += set.Count
		// Pods that can run on their node only wait for it: that is a cost, not a shortage.
		if w.NodeBound || w.LocalVolume {
			continue
		}
		// Most workloads have the same tolerations, so the heap is seldom built again.
		if now := left.accepts(w, s.Nodes[from].Taints); to == nil || !slices.Equal(now, accepted) {
			to, accepted = left.hosts(gone, now), now
		}
		for more := set.Count; more > 0; more-- {
			if to.place(w.Request) {
				continue
			}
			if short.Pods == 0 {
				short.Workload = set.Workload
			}
			short.Pods += more
			short.Missing.MilliCPU += w.Request.MilliCPU * int64(more)
			short.Missing.Memory += w.Request.Memory * int64(more)
			short.Missing.Pods += int64(more)
			break
		}
	}
}

// hosts are the nodes that take pods: a heap with the most free memory first.
type hosts struct {
	nodes []int
	free  []cluster.Resources // by node
}

func (h *hosts) Len() int           { return len(h.nodes) }
func (h *hosts) Less(i, j int) bool { return h.free[h.nodes[i]].Memory > h.free[h.nodes[j]].Memory }
func (h *hosts) Swap(i, j int)      { h.nodes[i], h.nodes[j] = h.nodes[j], h.nodes[i] }

// Push and Pop implement heap.Interface. Nodes are neither added nor removed.
func (h *hosts) Push(any) {}

// Pop does nothing, see Push.
func (h *hosts) Pop() any { return nil }

// place places a pod on the node with the most free memory on which it fits, and reports whether
// there is one.
func (h *hosts) place(request cluster.Resources) bool {
	at := h.mostFree(request)
	if at < 0 {
		return false
	}
	free := &h.free[h.nodes[at]]
	free.MilliCPU -= request.MilliCPU
	free.Memory -= request.Memory
	free.Pods--
	heap.Fix(h, at)
	return true
}

// mostFree returns the first node, which nearly always fits, or searches the others if it lacks
// something other than memory.
func (h *hosts) mostFree(request cluster.Resources) int {
	best := -1
	for at, i := range h.nodes {
		free := &h.free[i]
		switch {
		case at == 0 && free.Memory < request.Memory:
			return -1
		case free.MilliCPU < request.MilliCPU || free.Memory < request.Memory || free.Pods <= 0:
			continue
		case at == 0:
			return 0
		case best < 0 || free.Memory > h.free[h.nodes[best]].Memory:
			best = at
		}
	}
	return best
}

// tolerated reports whether pods may run on a node with taints: they tolerate those of the node on
// which they run, and those that their tolerations match.
func tolerated(taints, known []cluster.Taint, tolerations []cluster.Toleration) bool {
	return !slices.ContainsFunc(taints, func(t cluster.Taint) bool {
		return t.Effect != "PreferNoSchedule" &&
			!slices.ContainsFunc(known, func(k cluster.Taint) bool { return k.Key == t.Key && k.Value == t.Value }) &&
			!slices.ContainsFunc(tolerations, func(each cluster.Toleration) bool { return each.Matches(t) })
	})
}
