package components

import (
	"context"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// removal returns the offer of a removal if a ClusterRelease no longer has the component. It names
// the ClusterRelease that has the policy.
func (r *Reconciler) removal(ctx context.Context, v *view, all releases) ([]refitv1alpha1.ComponentOffer, error) {
	if v.status.Installed == nil || v.status.Owner != refitv1alpha1.OwnerRefit || v.component.Spec.Manage == refitv1alpha1.ManageObserve {
		return nil, nil
	}
	var known []component.Release
	for _, release := range all.verified {
		known = append(known, component.Release{Kubernetes: release.kubernetes, Components: release.components})
	}
	for i, release := range all.verified {
		at, removed := component.RemovalOf(v.component.Name, v.status.Installed.Version, known[i], known)
		if !removed || compareVersions(release.kubernetes, v.current) < 0 {
			continue
		}
		in := v.release
		in.Action, in.Spec, in.Capabilities.Kubernetes = component.Remove, v.component.Spec, v.current
		in.Component = content(all.verified[at], v.component.Name, v.status.Installed.Version)
		if in.Component.Release != v.release.Component.Release { // that version is of another Helm release
			continue
		}
		in.Archive, _ = r.source.chart(ctx, in.Component.Chart) // only a warning depends on it
		found, err := offer.Compute(ctx, v.cluster, in)
		if err != nil {
			return nil, err
		}
		return []refitv1alpha1.ComponentOffer{found.Status(all.verified[at].ref, in)}, nil
	}
	return nil, nil
}

// content returns the signed content of a version, which the ClusterRelease has.
func content(release verified, name, version string) refitv1alpha1.ReleaseComponent {
	at := slices.IndexFunc(release.components, func(c refitv1alpha1.ReleaseComponent) bool { return c.Name == name && c.Version == version })
	return release.components[at]
}
