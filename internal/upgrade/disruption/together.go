package disruption

import (
	"fmt"
	"slices"
)

// SharedBudget is a budget with pods on several nodes that does not allow all of these to be
// drained at once: the drains would block each other.
type SharedBudget struct {
	Budget  int      // index into Snapshot.Budgets
	Allowed int32    // pods that may be evicted at once
	Pods    int32    // that would have to be, on all of the nodes
	Nodes   []string // in the Snapshot's order
}

// SharedBudgets are the budgets that keep nodes from being drained together.
func (sim *Simulation) SharedBudgets() []SharedBudget {
	s := sim.snapshot
	byBudget := make([]SharedBudget, len(s.Budgets))
	for i := range s.Nodes {
		for _, u := range sim.at(i).uses {
			a := &byBudget[u.budget]
			a.Pods += u.pods
			a.Nodes = append(a.Nodes, s.Nodes[i].Name)
		}
	}
	var out []SharedBudget
	for i, a := range byBudget {
		a.Budget, a.Allowed = i, allowed(&s.Budgets[i])
		if len(a.Nodes) > 1 && a.Pods > a.Allowed {
			out = append(out, a)
		}
	}
	return out
}

// Conflict is why a node must not be drained while another one is.
type Conflict struct {
	Node, With string
	Budget     string // namespace/name
	Allowed    int32  // disruptions that it allows
	Pods       int32  // that would have to be evicted
}

// String describes the conflict in a sentence.
func (c Conflict) String() string {
	return fmt.Sprintf("%s and %s both have pods of PodDisruptionBudget %s, which allows %d of %d evictions",
		c.Node, c.With, c.Budget, c.Allowed, c.Pods)
}

// MayDrainTogether reports whether two nodes may be drained at the same time, or why not.
func (sim *Simulation) MayDrainTogether(a, b string) (Conflict, bool) {
	if a == b {
		return Conflict{}, true
	}
	return sim.Together(a).MayAdd(b)
}

// Together returns a set of nodes that are drained at the same time. It contains the given nodes,
// whether they conflict or not.
func (sim *Simulation) Together(nodes ...string) *Set {
	set := &Set{sim: sim, pods: make([]int32, len(sim.snapshot.Budgets))}
	for _, node := range nodes {
		set.Add(node)
	}
	return set
}

// Set is a set of nodes that are drained at the same time.
type Set struct {
	sim   *Simulation
	nodes []int
	pods  []int32 // by budget
}

// MayAdd reports whether a node may be drained together with those of the set, or why not. It
// checks the budgets of the node's own pods only.
func (s *Set) MayAdd(node string) (Conflict, bool) {
	i, ok := s.sim.byName[node]
	if !ok || slices.Contains(s.nodes, i) {
		return Conflict{}, true
	}
	for _, u := range s.sim.at(i).uses {
		// If only this node has pods of the budget, its own drain waits for the budget.
		if s.pods[u.budget] == 0 {
			continue
		}
		b := &s.sim.snapshot.Budgets[u.budget]
		if together := s.pods[u.budget] + u.pods; together > allowed(b) {
			return Conflict{Node: node, With: s.holder(u.budget), Budget: b.Key(), Allowed: allowed(b), Pods: together}, false
		}
	}
	return Conflict{}, true
}

// Add adds a node to the set.
func (s *Set) Add(node string) {
	i, ok := s.sim.byName[node]
	if !ok || slices.Contains(s.nodes, i) {
		return
	}
	s.nodes = append(s.nodes, i)
	for _, u := range s.sim.at(i).uses {
		s.pods[u.budget] += u.pods
	}
}

// Remove removes a node from the set.
func (s *Set) Remove(node string) {
	i, ok := s.sim.byName[node]
	if !ok {
		return
	}
	at := slices.Index(s.nodes, i)
	if at < 0 {
		return
	}
	s.nodes = slices.Delete(s.nodes, at, at+1)
	for _, u := range s.sim.at(i).uses {
		s.pods[u.budget] -= u.pods
	}
}

// holder is the first node of the set with pods of a budget.
func (s *Set) holder(budget int) string {
	for _, i := range s.nodes {
		if slices.ContainsFunc(s.sim.at(i).uses, func(u use) bool { return u.budget == budget }) {
			return s.sim.at(i).Node
		}
	}
	return ""
}
