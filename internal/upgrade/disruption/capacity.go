package disruption

import (
	"cmp"
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
	free := slices.Clone(sim.room.free)
	gone := map[int]bool{}
	for _, name := range away {
		if i, ok := sim.byName[name]; ok {
			gone[i] = true
		}
	}
	var short Shortage
	for i := range sim.Nodes {
		if gone[i] {
			sim.place(i, gone, free, &short)
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
func (sim *Simulation) place(from int, gone map[int]bool, free []cluster.Resources, short *Shortage) {
	s := sim.snapshot
	var to []int
	for i := range s.Nodes {
		if !gone[i] && sim.room.open[i] && tolerated(s.Nodes[i].Taints, s.Nodes[from].Taints) {
			to = append(to, i)
		}
	}
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
			best := roomiest(to, free, w.Request)
			if best < 0 {
				if short.Pods == 0 {
					short.Workload = set.Workload
				}
				short.Pods += left
				short.Missing.MilliCPU += w.Request.MilliCPU * int64(left)
				short.Missing.Memory += w.Request.Memory * int64(left)
				short.Missing.Pods += int64(left)
				break
			}
			free[best].MilliCPU -= w.Request.MilliCPU
			free[best].Memory -= w.Request.Memory
			free[best].Pods--
		}
	}
}

// roomiest is the node with the most free memory of those on which a pod fits, -1 if it fits on none.
func roomiest(nodes []int, free []cluster.Resources, ask cluster.Resources) int {
	best := -1
	for _, i := range nodes {
		fits := free[i].MilliCPU >= ask.MilliCPU && free[i].Memory >= ask.Memory && free[i].Pods > 0
		if fits && (best < 0 || free[i].Memory > free[best].Memory) {
			best = i
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
