package disruption

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// room is what each node has free by the requests of the pods on it.
type room struct {
	free []cluster.Resources // by node
	open []bool              // by node: ready and not cordoned
}

// Shortage is what does not fit when nodes are away. Its zero value: everything does.
type Shortage struct {
	Pods     int32             // that find no room
	Of       int32             // that have to move
	Workload int               // index of the first of them
	Missing  cluster.Resources // what they ask for together
}

// Fits places the pods of the nodes that are away on the others, largest first, each where the most memory is free. It knows requests and taints only:
// a pod may go where the taints are no others than on the node that it comes from.
func (sim *Simulation) Fits(away ...string) (Shortage, bool) {
	left := measure(sim.snapshot)
	gone := map[int]bool{}
	for _, name := range away {
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

func measure(s *cluster.Snapshot) room {
	r := room{free: make([]cluster.Resources, len(s.Nodes)), open: make([]bool, len(s.Nodes))}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		r.open[i] = n.IsReady() && !n.Unschedulable
		r.free[i] = n.Allocatable
		for _, set := range n.Pods {
			if set.Workload < 0 || set.Workload >= len(s.Workloads) {
				continue
			}
			ask := s.Workloads[set.Workload].Request
			r.free[i].MilliCPU -= ask.MilliCPU * int64(set.Count)
			r.free[i].Memory -= ask.Memory * int64(set.Count)
			r.free[i].Pods -= int64(set.Count)
		}
	}
	return r
}

// place finds room for the pods of one node.
func place(s *cluster.Snapshot, from int, gone map[int]bool, left room, short *Shortage) {
	to := &hosts{free: left.free}
	for i := range s.Nodes {
		if !gone[i] && left.open[i] && tolerated(s.Nodes[i].Taints, s.Nodes[from].Taints) {
			to.nodes = append(to.nodes, i)
		}
	}
	heap.Init(to)
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
		// What can run on its node only waits for it; that is a cost and no lack of room.
		if w.NodeBound || w.LocalVolume {
			continue
		}
		for left := set.Count; left > 0; left-- {
			if to.place(w.Request) {
				continue
			}
			if short.Pods == 0 {
				short.Workload = set.Workload
			}
			short.Pods += left
			short.Missing.MilliCPU += w.Request.MilliCPU * int64(left)
			short.Missing.Memory += w.Request.Memory * int64(left)
			short.Missing.Pods += int64(left)
			break
		}
	}
}

// hosts are the nodes that may take pods, a heap with the most free memory first.
type hosts struct {
	nodes []int
	free  []cluster.Resources // by node
}

func (h *hosts) Len() int           { return len(h.nodes) }
func (h *hosts) Less(i, j int) bool { return h.free[h.nodes[i]].Memory > h.free[h.nodes[j]].Memory }
func (h *hosts) Swap(i, j int)      { h.nodes[i], h.nodes[j] = h.nodes[j], h.nodes[i] }

// Push and Pop make it a heap.Interface; nodes are neither added nor removed.
func (h *hosts) Push(any) {}

// Pop does nothing, see Push.
func (h *hosts) Pop() any { return nil }

// place puts a pod onto the node with the most free memory of those on which it fits, and says whether there is one.
func (h *hosts) place(ask cluster.Resources) bool {
	at := h.roomiest(ask)
	if at < 0 {
		return false
	}
	free := &h.free[h.nodes[at]]
	free.MilliCPU -= ask.MilliCPU
	free.Memory -= ask.Memory
	free.Pods--
	heap.Fix(h, at)
	return true
}

// roomiest looks at the first node, which nearly always does, and at the others only if it lacks something else than memory.
func (h *hosts) roomiest(ask cluster.Resources) int {
	best := -1
	for at, i := range h.nodes {
		free := &h.free[i]
		switch {
		case at == 0 && free.Memory < ask.Memory:
			return -1
		case free.MilliCPU < ask.MilliCPU || free.Memory < ask.Memory || free.Pods <= 0:
			continue
		case at == 0:
			return 0
		case best < 0 || free.Memory > h.free[h.nodes[best]].Memory:
			best = at
		}
	}
	return best
}

// tolerated says whether pods of a node with some taints may run on a node with others. What a pod tolerates is not known but for this: it runs where it runs.
func tolerated(taints, known []cluster.Taint) bool {
	for _, t := range taints {
		if t.Effect == "PreferNoSchedule" {
			continue
		}
		if !slices.ContainsFunc(known, func(k cluster.Taint) bool { return k.Key == t.Key && k.Value == t.Value }) {
			return false
		}
	}
	return true
}
