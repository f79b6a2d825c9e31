package component

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Wanted is a change of a component that must be known before it happens, and the version of
// Kubernetes that runs then.
type Wanted struct {
	Placed

	Kubernetes string
}

// WantedOf returns the changes of a component that a ClusterRelease may cause next: that of an
// upgrade that goes to the ClusterRelease in one hop, each newer version that runs on the current
// Kubernetes, because a plan with more hops may take it, and the next step of a plan that runs.
func WantedOf(name, current string, release Release, installed []Installed, plan []refitv1alpha1.PlannedComponent) ([]Wanted, *NoPath, error) {
	placed, noPaths, err := Place(current, []Release{release}, installed, nil)
	if err != nil {
		return nil, nil, err
	}
	w := wanting{name: name, current: current, release: release}
	if at := slices.IndexFunc(installed, func(i Installed) bool { return i.Name == name }); at >= 0 {
		w.installed = installed[at].Version
	}
	if at := slices.IndexFunc(placed, func(p Placed) bool { return p.Component == name }); at >= 0 {
		kubernetes := release.Kubernetes
		if placed[at].Before {
			kubernetes = current
		}
		w.add(placed[at], kubernetes)
	}
	if err := w.addBridges(); err != nil {
		return nil, nil, err
	}
	w.addPlanned(plan)
	if at := slices.IndexFunc(noPaths, func(n NoPath) bool { return n.Component == name }); at >= 0 {
		return w.all, &noPaths[at], nil
	}
	return w.all, nil, nil
}

type wanting struct {
	name, current string
	release       Release
	installed     string // empty if it is not
	all           []Wanted
}

func (w *wanting) add(p Placed, kubernetes string) {
	if !slices.ContainsFunc(w.all, func(has Wanted) bool { return has.To == p.To && has.Kubernetes == kubernetes }) {
		w.all = append(w.all, Wanted{Placed: p, Kubernetes: kubernetes})
	}
}

// change returns the change to a version, before the control plane.
func (w *wanting) change(to, reason string) Placed {
	p := Placed{Action: Install, Component: w.name, From: w.installed, To: to, Before: true, Reason: reason}
	if w.installed != "" {
		p.Action = Upgrade
	}
	return p
}

func (w *wanting) addBridges() error {
	p := placement{hops: []Release{w.release}, offers: map[string][]offer{}}
	if err := p.readOffers(); err != nil || len(p.offers[w.name]) == 0 {
		return err
	}
	_, matrix, err := p.target(w.name)
	if err != nil {
		return err
	}
	kubernetes, err := parseVersion(w.current)
	if err != nil {
		return err
	}
	for _, o := range p.offers[w.name] {
		if w.installed != "" {
			installed, err := parseVersion(w.installed)
			if err != nil || !installed.LessThan(o.version) {
				continue
			}
		}
		if matrix.Fits(o.version, kubernetes) {
			w.add(w.change(o.Version, "it runs on Kubernetes "+w.current), w.current)
		}
	}
	return nil
}

// addPlanned adds the steps of a plan that change what is installed now.
func (w *wanting) addPlanned(plan []refitv1alpha1.PlannedComponent) {
	for i := range plan {
		p := &plan[i]
		has := slices.ContainsFunc(w.release.Components, func(c refitv1alpha1.ReleaseComponent) bool { return c.Name == w.name && c.Version == p.To })
		if p.Name == w.name && p.From == w.installed && p.Action != refitv1alpha1.ActionRemove && has && p.RunsOn != "" {
			w.add(w.change(p.To, "a plan has it"), p.RunsOn)
		}
	}
}
