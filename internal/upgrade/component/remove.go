package component

import (
	"maps"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// RemovalOf returns the ClusterRelease whose policy decides what happens to a version of a
// component that a target no longer has: of those that have the version, the one of the newest
// Kubernetes. It is false if the component stays. A target without any components removes none.
func RemovalOf(name, installed string, target Release, all []Release) (index int, removed bool) {
	if len(target.Components) == 0 || slices.ContainsFunc(target.Components, func(c refitv1alpha1.ReleaseComponent) bool { return c.Name == name }) {
		return 0, false
	}
	index = -1
	var policy refitv1alpha1.RemovalPolicy
	for i := range all {
		at := slices.IndexFunc(all[i].Components, func(c refitv1alpha1.ReleaseComponent) bool { return c.Name == name && c.Version == installed })
		if at >= 0 && (index < 0 || !olderKubernetes(all[i], all[index])) {
			index, policy = i, all[i].Components[at].OnRemove
		}
	}
	return index, policy == refitv1alpha1.RemoveUninstall
}

func olderKubernetes(a, b Release) bool {
	x, errX := parseVersion(a.Kubernetes)
	y, errY := parseVersion(b.Kubernetes)
	return errX == nil && errY == nil && x.LessThan(y)
}

// remove removes what Refit installed and the last hop no longer has, if the policy is
// to uninstall it. It is last: until then, another component may need it.
func (p *placement) remove(installed []Installed) {
	last := len(p.hops) - 1
	for _, i := range installed {
		from, byRefit := i.Version, i.ByRefit
		for _, placed := range p.placed {
			if placed.Component == i.Name {
				from, byRefit = placed.To, true // it is upgraded on the way, and adopted with that
			}
		}
		if release, removed := RemovalOf(i.Name, from, p.hops[last], p.all); removed && byRefit {
			p.placed = append(p.placed, Placed{
				Action: Remove, Component: i.Name, From: from, Hop: last, Release: release, Reason: "the target no longer has it",
			})
		}
	}
}

// removalRanks orders the components that are removed: each precedes those that it needs.
func (p *placement) removalRanks() map[string]int {
	needs := map[string][]string{}
	for _, placed := range p.placed {
		if placed.Action != Remove {
			continue
		}
		needs[placed.Component] = nil
		for _, c := range p.all[placed.Release].Components {
			if c.Name == placed.Component && c.Version == placed.From {
				needs[placed.Component] = c.Needs
			}
		}
	}
	ranks := map[string]int{}
	visited := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		_, removed := needs[name]
		if !removed || visited[name] {
			return
		}
		visited[name] = true
		for _, need := range needs[name] {
			visit(need)
		}
		ranks[name] = -len(ranks)
	}
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		visit(name)
	}
	return ranks
}

// StepsOf returns the steps of an action. A removal runs no recipe: that is for a new version.
func StepsOf(action refitv1alpha1.ComponentAction, recipe []refitv1alpha1.RecipeStep) ([]Step, error) {
	if action != refitv1alpha1.ActionRemove {
		return Compile(recipe)
	}
	var steps []Step
	for _, kind := range []StepKind{StepCheck, StepSave, StepRemove, StepCommit, StepSweep} {
		steps = append(steps, newStep(kind, string(kind)))
	}
	return steps, nil
}
