package component

import (
	"fmt"
	"slices"
	"strings"
)

// sort sorts the actions as the plan runs them: by place, and at one place those that others
// need first. A component that is needed earlier than it was placed moves there if it can.
func (p *placement) sort() error {
	order, err := p.dependencies()
	if err != nil {
		return err
	}
	for _, name := range slices.Backward(order) { // dependents first, so that a chain moves as a whole
		p.pullNeeds(name)
	}
	rank := map[string]int{}
	for i, name := range order {
		rank[name] = i
	}
	removed := p.removalRanks()
	slices.SortStableFunc(p.placed, func(a, b Placed) int {
		switch {
		case a.slot() != b.slot():
			return a.slot() - b.slot()
		case a.Action == Remove && b.Action == Remove:
			return removed[a.Component] - removed[b.Component]
		case a.Action == Remove:
			return 1
		case b.Action == Remove:
			return -1
		}
		return rank[a.Component] - rank[b.Component]
	})
	return nil
}

// dependencies returns the components so that each follows those that it needs.
func (p *placement) dependencies() (order []string, err error) {
	const visiting, visited = 1, 2
	state := map[string]int{}
	var visit func(name string, path []string) error
	visit = func(name string, path []string) error {
		switch state[name] {
		case visited:
			return nil
		case visiting:
			return fmt.Errorf("components need each other: %s", strings.Join(append(path, name), " → "))
		}
		state[name] = visiting
		if offers := p.offers[name]; len(offers) > 0 {
			for _, need := range offers[len(offers)-1].Needs {
				if len(p.offers[need]) == 0 {
					return fmt.Errorf("component %s needs %s, which no ClusterRelease of the plan has", name, need)
				}
				if err := visit(need, append(path, name)); err != nil {
					return err
				}
			}
		}
		state[name] = visited
		order = append(order, name)
		return nil
	}
	for _, name := range p.names {
		if err := visit(name, nil); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// pullNeeds moves what a component needs to the place of the component, if it was placed later. A
// version that does not run there yet leaves the component without a path.
func (p *placement) pullNeeds(name string) {
	earliest := slices.IndexFunc(p.placed, func(a Placed) bool { return a.Component == name && a.Action != Remove })
	if earliest < 0 {
		return
	}
	at := p.placed[earliest]
	offers := p.offers[name]
	for _, need := range offers[len(offers)-1].Needs {
		last := -1 // of several changes, the last one is to the target
		for i, a := range p.placed {
			if a.Component == need && a.Action != Remove {
				last = i
			}
		}
		if last < 0 || p.placed[last].slot() <= at.slot() {
			continue
		}
		target, matrix, err := p.target(need)
		if err != nil || p.reach(matrix, target.version, at.Hop) < len(p.kubernetes)-1 {
			p.noPath = append(p.noPath, NoPath{
				Component: name, Kubernetes: p.hops[at.Hop].Kubernetes,
				Message: fmt.Sprintf("%s %s needs %s %s, which does not run on Kubernetes %s", name, at.To, need, p.placed[last].To, p.kubernetes[at.Hop]),
			})
			continue
		}
		moved := p.placed[last]
		moved.Hop, moved.Before, moved.Reason = at.Hop, at.Before, fmt.Sprintf("%s needs it", name)
		p.placed[last] = moved
	}
}
