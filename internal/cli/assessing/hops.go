package assessing

import (
	"context"
	"errors"
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/request"
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

// Missing returns the versions on the path to the target that the cluster has no ClusterRelease of,
// in the order of the upgrade. A version is a minor version, such as v1.36, if any of its patch
// releases will do. An operation in progress, of those that list returns, lacks none: it is
// followed even if the cluster cannot be read now.
func (r *Request) Missing(
	ctx context.Context, a *Assessor, flags Flags, list func(context.Context) ([]refitv1alpha1.ClusterUpgrade, error),
) ([]string, error) {
	upgrade, err := r.Upgrade(ctx, a, flags)
	if none, ok := errors.AsType[assess.NoReleaseError](err); ok {
		return []string{none.Minor}, nil
	}
	if err != nil || upgrade.Spec.Target.Release != "" {
		return nil, err
	}
	all, err := list(ctx)
	if err != nil || request.InProgress(all, upgrade.Spec) != nil {
		return nil, err
	}
	if err := r.read(ctx, a); err != nil {
		return nil, err
	}
	spec := policy.Defaulted(upgrade.Spec)
	if _, err := assess.Reach(r.observed.Snapshot, spec); err != nil {
		return nil, asUsageError(err)
	}
	planned, err := plan.Make(r.observed.Snapshot, spec)
	if err != nil {
		return nil, asUsageError(err)
	}
	var out []string
	for _, hop := range planned.Hops {
		if hop.Release == nil {
			out = append(out, hop.Kubernetes)
		}
	}
	return out, nil
}

// Snapshot returns the cluster as it was read, nil if it was not.
func (r *Request) Snapshot() *cluster.Snapshot {
	if r.observed == nil {
		return nil
	}
	return r.observed.Snapshot
}

// Forget forgets the cluster: it has changed, and is read again.
func (r *Request) Forget() { r.observed = nil }
