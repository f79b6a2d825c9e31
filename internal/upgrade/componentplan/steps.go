package componentplan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// Step is the change of one component.
type Step struct {
	Component string
	Action    refitv1alpha1.ComponentAction
	From, To  string
	// Hop is the index of the hop, and Before is set if the step precedes its control plane.
	Hop    int
	Before bool
	// Kubernetes is the version that runs during the step.
	Kubernetes string
	// Release is the ClusterRelease that has the chart.
	Release refitv1alpha1.ReleaseRef
	// Reason is why the step has this place.
	Reason string
	// Digest is what an approval covers: that of the offer if FromOffer is set, otherwise that of
	// the signed content. The changes of a step are known only once all before it are complete.
	Digest    string
	FromOffer bool
	// Started is set if the operation has started to change the component.
	Started bool
}

// Version returns the version that an order for the step names: the one that is installed, or the
// one that is removed.
func (s *Step) Version() string { return versionOf(s.Action, s.From, s.To) }

func versionOf(action refitv1alpha1.ComponentAction, from, to string) string {
	if action == refitv1alpha1.ActionRemove {
		return from
	}
	return to
}

// Stage returns the stage of a step.
func (s *Step) Stage() refitv1alpha1.StageName {
	if s.Before {
		return refitv1alpha1.StageComponentsBefore
	}
	return refitv1alpha1.StageComponents
}

// Result is everything about the components of an upgrade.
type Result struct {
	// Steps are in the order of the plan.
	Steps []Step
	// NoPath are components that cannot follow the upgrade, and Observed those that another tool
	// has to upgrade first.
	NoPath   []component.NoPath
	Observed []Step
	// Problem is why no steps could be decided.
	Problem error
}

// Of decides about the components of a path, given the ClusterRelease of each hop as
// policy.ComponentReleases returns them. An operation's record takes precedence over what is
// installed now: a plan does not become shorter because a part of it is done.
func Of(s *cluster.Snapshot, spec *refitv1alpha1.ClusterUpgradeSpec, path skew.Path, releases []*cluster.Release) Result {
	p := &planning{s: s, spec: spec}
	p.readHops(path, releases)
	p.readAll()
	if !slices.ContainsFunc(p.releases, func(r component.Release) bool { return len(r.Components) > 0 }) {
		return Result{}
	}
	placed, noPath, err := component.Place(path.From.String(), p.releases, p.installed(), p.all)
	if err != nil {
		return Result{Problem: err}
	}
	out := Result{NoPath: slices.DeleteFunc(noPath, func(n component.NoPath) bool { return p.observes(n.Component) })}
	for i := range placed {
		step := p.step(&placed[i], path, slices.ContainsFunc(placed[:i], func(b component.Placed) bool { return b.Component == placed[i].Component }))
		switch observed := p.observes(step.Component); {
		case !observed:
			out.Steps = append(out.Steps, step)
		case step.Before: // the version that it has would not run
			out.Observed = append(out.Observed, step)
		}
	}
	out.Steps = p.keepRemovals(out.Steps, path)
	if len(out.Steps) > refitv1alpha1.MaxPlannedComponents {
		return Result{Problem: fmt.Errorf("the upgrade changes components %d times, and a plan may have %d: upgrade to an earlier version first",
			len(out.Steps), refitv1alpha1.MaxPlannedComponents)}
	}
	return out
}

type planning struct {
	s        *cluster.Snapshot
	spec     *refitv1alpha1.ClusterUpgradeSpec
	hops     []int // of the plan, by the index of releases
	refs     []refitv1alpha1.ReleaseRef
	releases []component.Release
	// All ClusterReleases that can be used: one of them has what is removed.
	all     []component.Release
	allRefs []refitv1alpha1.ReleaseRef
}

func (p *planning) readAll() {
	sorted := slices.SortedFunc(slices.Values(p.s.Releases), func(a, b cluster.Release) int { return strings.Compare(a.Name, b.Name) })
	for i := range sorted {
		if r := &sorted[i]; r.Error == "" && r.ComponentsError == "" {
			p.all = append(p.all, component.Release{Kubernetes: r.Payload.Kubernetes, Components: r.Components})
			p.allRefs = append(p.allRefs, refitv1alpha1.ReleaseRef{Name: r.Name, Digest: r.Digest})
		}
	}
}

// keepRemovals adds the recorded removals that have started and that the ClusterReleases no longer
// cause, such as because the one with the policy was deleted.
func (p *planning) keepRemovals(steps []Step, path skew.Path) []Step {
	if p.s.Operation == nil || p.s.Operation.Plan == nil {
		return steps
	}
	for i := range p.s.Operation.Plan.Components {
		r := &p.s.Operation.Plan.Components[i]
		planned := slices.ContainsFunc(steps, func(s Step) bool { return s.Component == r.Name && s.Action == refitv1alpha1.ActionRemove })
		if r.Action != refitv1alpha1.ActionRemove || planned || !p.started(r.Name) {
			continue
		}
		step := Step{
			Component: r.Name, Action: r.Action, From: r.From, Hop: len(path.Hops) - 1, Kubernetes: r.RunsOn, Digest: r.Digest, FromOffer: true, Started: true,
			Reason: "the target no longer has it",
		}
		if order := p.s.ComponentUpgrade(r.Name); order != nil {
			step.Release = order.Spec.Release
		}
		steps = append(steps, step)
	}
	index := func(s Step) int {
		return slices.IndexFunc(p.s.Operation.Plan.Components, func(r refitv1alpha1.PlannedComponent) bool {
			return r.Name == s.Component && r.Action == s.Action
		})
	}
	first := slices.IndexFunc(steps, func(s Step) bool { return s.Action == refitv1alpha1.ActionRemove })
	if first >= 0 { // they are last
		slices.SortStableFunc(steps[first:], func(a, b Step) int { return index(a) - index(b) })
	}
	return steps
}

// readHops collects the hops in which the control plane changes.
func (p *planning) readHops(path skew.Path, releases []*cluster.Release) {
	if p.spec.Scope == refitv1alpha1.ScopeWorkers || len(releases) == 0 {
		return
	}
	for i, version := range path.Hops {
		last := i == len(path.Hops)-1
		if version == path.From && !last {
			continue // workers catch up
		}
		hop := component.Release{Kubernetes: version.String()}
		var ref refitv1alpha1.ReleaseRef
		if r := releases[i]; r != nil {
			hop = component.Release{Kubernetes: r.Payload.Kubernetes, Components: r.Components}
			ref = refitv1alpha1.ReleaseRef{Name: r.Name, Digest: r.Digest}
		}
		p.hops, p.refs, p.releases = append(p.hops, i), append(p.refs, ref), append(p.releases, hop)
	}
}

// installed is what was installed when the plan was made.
func (p *planning) installed() []component.Installed {
	var out []component.Installed
	for i := range p.s.Components {
		c := &p.s.Components[i]
		first := p.recorded(c.Name, nil)
		switch {
		case first != nil && p.started(c.Name) && first.From != "":
			out = append(out, component.Installed{Name: c.Name, Version: first.From, ByRefit: c.ByRefit || c.Status.Installed == nil})
		case first != nil && p.started(c.Name): // this operation installs it
		case c.Status.Installed != nil:
			out = append(out, component.Installed{Name: c.Name, Version: c.Status.Installed.Version, ByRefit: c.ByRefit})
		}
	}
	return out
}

// recorded is the first recorded step of a component that matches.
func (p *planning) recorded(name string, matches func(*refitv1alpha1.PlannedComponent) bool) *refitv1alpha1.PlannedComponent {
	if p.s.Operation == nil || p.s.Operation.Plan == nil {
		return nil
	}
	for i := range p.s.Operation.Plan.Components {
		if c := &p.s.Operation.Plan.Components[i]; c.Name == name && (matches == nil || matches(c)) {
			return c
		}
	}
	return nil
}

// started reports whether the operation has started to change a component, so that its recorded
// steps count and not what is installed: it has ordered it, or an order that was deleted has done
// its work. An order that changed nothing is planned again: what it changes may differ now.
func (p *planning) started(name string) bool {
	if p.s.Operation == nil {
		return false
	}
	order := p.s.ComponentUpgrade(name)
	if order == nil || string(order.Spec.Operation.UID) != p.s.Operation.UID {
		c := p.s.Component(name)
		return c != nil && c.Observed() && p.recorded(name, func(r *refitv1alpha1.PlannedComponent) bool {
			if r.Action == refitv1alpha1.ActionRemove {
				return c.Status.Installed == nil
			}
			return c.Status.Installed != nil && r.To == c.Status.Installed.Version
		}) != nil
	}
	first := p.recorded(name, nil)
	isFirst := first == nil || versionOf(first.Action, first.From, first.To) == order.Spec.Version && first.Action == order.Spec.Action
	return !isFirst || !Void(order, p.s.Operation.Spec.Retry)
}

func (p *planning) observes(name string) bool {
	c := p.s.Component(name)
	return c != nil && c.Manage == refitv1alpha1.ManageObserve
}

func (p *planning) step(placed *component.Placed, path skew.Path, again bool) Step {
	step := Step{
		Component: placed.Component, Action: refitv1alpha1.ComponentAction(placed.Action), From: placed.From, To: placed.To,
		Hop: p.hops[placed.Hop], Before: placed.Before, Reason: placed.Reason, Kubernetes: p.releases[placed.Hop].Kubernetes,
	}
	if placed.Action == component.Remove {
		step.Release = p.allRefs[placed.Release]
	} else {
		step.Release = p.refs[placed.Release]
	}
	switch {
	case placed.Before && placed.Hop == 0:
		step.Kubernetes = path.From.String()
	case placed.Before:
		step.Kubernetes = p.releases[placed.Hop-1].Kubernetes
	}
	step.Digest = p.content(placed)
	recorded := p.recorded(step.Component, func(r *refitv1alpha1.PlannedComponent) bool { return r.To == step.To && r.Action == step.Action })
	step.Started = p.started(step.Component)
	offer := OfferOf(p.s, &step)
	first := placed.Hop == 0 && !again
	switch {
	case recorded != nil && (step.Started || first && offer == nil): // it is computed again before the step starts
		step.Digest, step.FromOffer = recorded.Digest, recorded.Digest != step.Digest
	case first && offer != nil:
		step.Digest, step.FromOffer = offer.Digest, true
	}
	return step
}

// content is the digest of the signed content of a step.
func (p *planning) content(placed *component.Placed) string {
	releases, version := p.releases, placed.To
	if placed.Action == component.Remove {
		releases, version = p.all, placed.From
	}
	components := releases[placed.Release].Components
	at := slices.IndexFunc(components, func(c refitv1alpha1.ReleaseComponent) bool { return c.Name == placed.Component && c.Version == version })
	if at < 0 {
		return ""
	}
	text, err := json.Marshal(components[at]) // keys of maps are sorted
	if err != nil {
		panic(err) // a bug: it was decoded from JSON
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// OfferOf returns the current offer for a step, nil if there is none yet: refit-components has not
// computed it for what the cluster is and has at the step.
func OfferOf(s *cluster.Snapshot, step *Step) *refitv1alpha1.ComponentOffer {
	offer := AnyOffer(s, step)
	if offer == nil || offer.Digest == "" || offer.Kubernetes != step.Kubernetes && step.Action != refitv1alpha1.ActionRemove {
		return nil // a removal is the same on every version of Kubernetes
	}
	return offer
}

// AnyOffer returns the offer for a step, preferably the current one, nil if there is none.
func AnyOffer(s *cluster.Snapshot, step *Step) *refitv1alpha1.ComponentOffer {
	c := s.Component(step.Component)
	if c == nil || !c.Observed() {
		return nil
	}
	var found *refitv1alpha1.ComponentOffer
	for i := range c.Status.Offers {
		o := &c.Status.Offers[i]
		if o.Release != step.Release || o.Action != step.Action || o.Version != step.Version() {
			continue
		}
		if o.Kubernetes == step.Kubernetes {
			return o
		}
		found = cmp.Or(found, o)
	}
	return found
}
