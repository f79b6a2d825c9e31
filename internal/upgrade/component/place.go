package component

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/version"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Installed is a component in a cluster.
type Installed struct {
	Name    string
	Version string
	// ByRefit is set if Refit installed it. Refit removes nothing else.
	ByRefit bool
}

// Release is what a ClusterRelease on the path of an upgrade offers.
type Release struct {
	// Kubernetes is the version of the hop.
	Kubernetes string
	Components []refitv1alpha1.ReleaseComponent
}

// Action is what happens to a component.
type Action string

// The actions.
const (
	Install Action = "Install"
	Upgrade Action = "Upgrade"
	Remove  Action = "Remove"
)

// Placed is an action and where it stands in the plan.
type Placed struct {
	Action    Action
	Component string
	From, To  string
	// Hop is the index of the hop, and Before is set if the action precedes its control plane.
	// Otherwise it follows the control plane, and precedes the workers.
	Hop    int
	Before bool
	// Release is the index of the ClusterRelease that has the chart: of the hops, or of all for a
	// removal.
	Release int
	// Reason is why it stands there.
	Reason string
}

// slot orders the places of a plan.
func (p Placed) slot() int {
	if p.Before {
		return 2 * p.Hop
	}
	return 2*p.Hop + 1
}

// NoPath is a component that cannot follow the upgrade.
type NoPath struct {
	Component string
	// Kubernetes is the version that no offered version of the component reaches.
	Kubernetes string
	Message    string
}

// Place decides when each component changes on the way of a cluster from one version of Kubernetes
// through the ClusterReleases of its hops. A component keeps its version while that fits, and
// changes one at a time, after those that it needs. All are the ClusterReleases of the cluster, of
// which one has the policy for a component that the last hop no longer has.
func Place(from string, hops []Release, installed []Installed, all []Release) ([]Placed, []NoPath, error) {
	p := placement{hops: hops, all: all, offers: map[string][]offer{}}
	for _, text := range append([]string{from}, kubernetesOf(hops)...) {
		v, err := parseVersion(text)
		if err != nil {
			return nil, nil, err
		}
		p.kubernetes = append(p.kubernetes, v)
	}
	if err := p.readOffers(); err != nil {
		return nil, nil, err
	}
	for _, name := range p.names {
		if err := p.place(name, installed); err != nil {
			return nil, nil, err
		}
	}
	p.remove(installed)
	if err := p.sort(); err != nil {
		return nil, nil, err
	}
	return p.placed, p.noPath, nil
}

type offer struct {
	refitv1alpha1.ReleaseComponent

	version *version.Version
	release int
}

type placement struct {
	hops, all  []Release
	kubernetes []*version.Version // before the first hop, then of each hop
	names      []string           // in the order of the ClusterReleases
	offers     map[string][]offer
	placed     []Placed
	noPath     []NoPath
}

func kubernetesOf(hops []Release) (versions []string) {
	for _, hop := range hops {
		versions = append(versions, hop.Kubernetes)
	}
	return versions
}

func (p *placement) readOffers() error {
	for i, hop := range p.hops {
		for _, c := range hop.Components {
			v, err := parseVersion(c.Version)
			if err != nil {
				return fmt.Errorf("component %s: %w", c.Name, err)
			}
			if _, known := p.offers[c.Name]; !known {
				p.names = append(p.names, c.Name)
			}
			p.offers[c.Name] = append(p.offers[c.Name], offer{c, v, i})
		}
	}
	return nil
}

// target returns the last version of the last ClusterRelease that has the component, and the matrix
// of that one. A component has it at the end unless it is dropped.
func (p *placement) target(name string) (offer, Matrix, error) {
	last := p.offers[name][len(p.offers[name])-1]
	matrix, err := ParseMatrix(last.Fits)
	if err != nil {
		return offer{}, Matrix{}, fmt.Errorf("component %s: %w", name, err)
	}
	return last, matrix, nil
}

func (p *placement) place(name string, installed []Installed) error {
	target, matrix, err := p.target(name)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(installed, func(i Installed) bool { return i.Name == name })
	if at < 0 {
		if !p.dropped(target) {
			p.install(target, matrix)
		}
		return nil
	}
	from := installed[at].Version // as its chart has it
	current, err := parseVersion(from)
	if err != nil { // somebody else's chart has it
		p.noPath = append(p.noPath, NoPath{
			Component: name, Kubernetes: p.hops[0].Kubernetes, Message: fmt.Sprintf("the installed version of %s cannot be compared: %v", name, err),
		})
		return nil
	}
	for hop := range p.hops {
		if matrix.Fits(current, p.kubernetes[hop+1]) && !p.isFirst(target, hop, current, matrix) {
			continue
		}
		next, found := p.bridge(name, matrix, current, hop)
		if !found {
			p.noPath = append(p.noPath, NoPath{
				Component: name, Kubernetes: p.hops[hop].Kubernetes,
				Message: fmt.Sprintf("%s %s does not run on Kubernetes %s, and no offered version runs on both %s and it",
					name, current, p.hops[hop].Kubernetes, p.kubernetes[hop]),
			})
			return nil
		}
		p.placed = append(p.placed, Placed{
			Action: Upgrade, Component: name, From: from, To: next.Version, Hop: hop, Before: true, Release: next.release,
			Reason: beforeReason(target, current, p.hops[hop].Kubernetes, matrix.Fits(current, p.kubernetes[hop+1])),
		})
		from, current = next.Version, next.version
	}
	if current.LessThan(target.version) && !p.dropped(target) {
		p.after(target, matrix, from)
	}
	return nil
}

// dropped reports whether the last ClusterRelease no longer has a component. It is not installed
// then, and changes only where its version would not run.
func (p *placement) dropped(target offer) bool { return target.release < len(p.hops)-1 }

// isFirst reports whether the publisher wants the target before the first control plane.
func (p *placement) isFirst(target offer, hop int, current *version.Version, m Matrix) bool {
	return hop == 0 && target.Place == refitv1alpha1.PlaceBefore && !p.dropped(target) && current.LessThan(target.version) &&
		m.Fits(target.version, p.kubernetes[0]) && m.Fits(target.version, p.kubernetes[1])
}

func beforeReason(target offer, current *version.Version, kubernetes string, fits bool) string {
	if fits {
		return "the publisher places it before the control plane"
	}
	return fmt.Sprintf("%s %s does not run on Kubernetes %s", target.Name, current, kubernetes)
}

// bridge returns the offered version, newer than the current one, that runs before and after a hop
// and reaches furthest from there.
func (p *placement) bridge(name string, m Matrix, current *version.Version, hop int) (offer, bool) {
	var best offer
	var bestReach int
	for _, o := range p.offers[name] {
		reach := p.reach(m, o.version, hop)
		if !current.LessThan(o.version) || reach <= hop {
			continue
		}
		if best.version == nil || reach > bestReach || reach == bestReach && best.version.LessThan(o.version) {
			best, bestReach = o, reach
		}
	}
	return best, best.version != nil
}

// reach returns the index of the last version of Kubernetes that a component runs on without a
// change, starting before a hop; -1 if it does not run there.
func (p *placement) reach(m Matrix, v *version.Version, hop int) int {
	last := -1
	for i := hop; i < len(p.kubernetes) && m.Fits(v, p.kubernetes[i]); i++ {
		last = i
	}
	return last
}

// after upgrades a component to its target as late as it may: after the last control plane.
func (p *placement) after(target offer, m Matrix, from string) {
	last := len(p.hops) - 1
	if !m.Fits(target.version, p.kubernetes[last+1]) {
		p.doesNotFit(target)
		return
	}
	p.placed = append(p.placed, Placed{
		Action: Upgrade, Component: target.Name, From: from, To: target.Version, Hop: last, Release: target.release,
		Reason: fmt.Sprintf("%s %s runs on Kubernetes %s", target.Name, from, p.hops[last].Kubernetes),
	})
}

func (p *placement) install(target offer, m Matrix) {
	last := len(p.hops) - 1
	if !m.Fits(target.version, p.kubernetes[last+1]) {
		p.doesNotFit(target)
		return
	}
	before := target.Place == refitv1alpha1.PlaceBefore && p.reach(m, target.version, 0) == last+1
	placed := Placed{Action: Install, Component: target.Name, To: target.Version, Hop: last, Release: target.release, Reason: "it is not installed"}
	if before {
		placed.Hop, placed.Before = 0, true
	}
	p.placed = append(p.placed, placed)
}

func (p *placement) doesNotFit(target offer) {
	kubernetes := p.hops[len(p.hops)-1].Kubernetes
	p.noPath = append(p.noPath, NoPath{
		Component: target.Name, Kubernetes: kubernetes,
		Message: fmt.Sprintf("the ClusterRelease offers %s %s, which does not run on Kubernetes %s", target.Name, target.Version, kubernetes),
	})
}
