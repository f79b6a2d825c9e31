package components

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// placement is what a ClusterRelease does to the components of the cluster, and when.
type placement struct {
	current string // version of Kubernetes
	release verified
	placed  []component.Placed
	noPath  []component.NoPath
	// incomplete is set if what is installed of a component is not known yet.
	incomplete bool
}

var patchVersion = regexp.MustCompile(`^v1\.[0-9]+\.[0-9]+`)

// placeAll places the components of a ClusterRelease, as if the cluster went to it in one hop. The
// status of the Components has the installed versions; own replaces it for one of them.
func placeAll(ctx context.Context, reader client.Reader, current string, release verified, own *refitv1alpha1.Component) (placement, error) {
	p := placement{current: patchVersion.FindString(current), release: release}
	if p.current == "" {
		return p, fmt.Errorf("the version of the API server is %q", current)
	}
	var list refitv1alpha1.ComponentList
	if err := reader.List(ctx, &list); err != nil {
		return p, fmt.Errorf("cannot list Components: %w", err)
	}
	var installed []component.Installed
	for i := range list.Items {
		status := &list.Items[i].Status
		if own != nil && own.Name == list.Items[i].Name {
			status = &own.Status
		} else if status.ObservedGeneration == 0 {
			p.incomplete = true
		}
		if status.Installed != nil {
			installed = append(installed, component.Installed{
				Name: list.Items[i].Name, Version: status.Installed.Version, ByRefit: status.Owner == refitv1alpha1.OwnerRefit,
			})
		}
	}
	err := p.place(installed)
	return p, err
}

func (p *placement) place(installed []component.Installed) (err error) {
	hop := component.Release{Kubernetes: p.release.kubernetes, Components: p.release.components}
	p.placed, p.noPath, err = component.Place(p.current, []component.Release{hop}, installed)
	return err
}

// of returns the first change of a component, if there is one.
func (p *placement) of(name string) (component.Placed, bool) {
	at := slices.IndexFunc(p.placed, func(c component.Placed) bool { return c.Component == name })
	if at < 0 {
		return component.Placed{}, false
	}
	return p.placed[at], true
}

// kubernetes returns the version of Kubernetes that runs when a component becomes a version.
func (p *placement) kubernetes(name, version string) string {
	for _, c := range p.placed {
		if c.Component == name && c.To == version && c.Before {
			return p.current
		}
	}
	return p.release.kubernetes
}
