package cluster

// Owner counts all pods of one owner, whatever budgets select them.
type Owner struct {
	First                           int // index of the first of its entries in Snapshot.Workloads
	Pods, Ready, Terminating, Stuck int32
}

// Owners returns, for each of the Workloads, its owner with the pods of all its entries.
func (s *Snapshot) Owners() []*Owner {
	type key struct{ namespace, kind, name string }
	known := make(map[key]*Owner, len(s.Workloads))
	// owners never grows, so pointers into it stay valid.
	owners, out := make([]Owner, 0, len(s.Workloads)), make([]*Owner, len(s.Workloads))
	for i := range s.Workloads {
		w := &s.Workloads[i]
		k := key{w.Namespace, w.Kind, w.Name}
		o := known[k]
		if o == nil {
			owners = append(owners, Owner{First: i})
			o = &owners[len(owners)-1]
			known[k] = o
		}
		o.Pods += w.Pods
		o.Ready += w.Ready
		o.Terminating += w.Terminating
		o.Stuck += w.Stuck
		out[i] = o
	}
	return out
}
