package assessing

import (
	"context"
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// Hops returns the ClusterReleases on the path to the target that change the version of the control
// plane, in the order of the upgrade.
func (r *Request) Hops(ctx context.Context, a *Assessor, flags Flags) ([]refitv1alpha1.ReleaseRef, error) {
	upgrade, err := r.Upgrade(ctx, a, flags)
	if err != nil {
		return nil, err
	}
	if err := r.read(ctx, a); err != nil {
		return nil, err
	}
	spec := policy.Defaulted(upgrade.Spec)
	path, err := assess.Reach(r.observed.Snapshot, spec)
	if err != nil {
		return nil, asUsageError(err)
	}
	planned, err := plan.Make(r.observed.Snapshot, spec)
	if err != nil {
		return nil, asUsageError(err)
	}
	var out []refitv1alpha1.ReleaseRef
	for _, hop := range planned.Hops {
		switch {
		case hop.Kubernetes == path.From.String(): // workers catch up
		case hop.Release == nil:
			return nil, fmt.Errorf("%s has no ClusterRelease for Kubernetes %s, which is on the path to %s: create, sign and apply one",
				r.observed.Cluster, hop.Kubernetes, path.To)
		default:
			out = append(out, *hop.Release)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the control plane of %s runs %s already: there is nothing to rehearse", r.observed.Cluster, path.From)
	}
	return out, nil
}
