package assessing

import (
	"context"
	"errors"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
	"github.com/refit-dev/refit/internal/upgrade/preview"
)

// Assessor assesses requests.
type Assessor struct {
	Reader *source.Reader
	// ReadManifest reads a ClusterUpgrade from the content of a file of this name.
	ReadManifest func(file string, raw []byte) (*refitv1alpha1.ClusterUpgrade, error)
	// Preflight runs the checks.
	Preflight func(preflight.Input) preflight.Report
}

// Assess reads the cluster and assesses an upgrade that does not exist yet.
func (r *Request) Assess(ctx context.Context, a *Assessor, upgrade *refitv1alpha1.ClusterUpgrade, purpose assess.Purpose) (*cliv1alpha1.Report, error) {
	if err := r.read(ctx, a); err != nil {
		return nil, err
	}
	o := r.observed
	// The waivers of flags, unlike those of a manifest, were typed for this cluster, so each must
	// match.
	report, err := preview.Report(preview.Request{
		Cluster: o.Cluster, Saved: o.Saved, Snapshot: o.Snapshot, Spec: upgrade.Spec, Waivers: r.waivers, Components: r.Components,
		At: o.At, Purpose: purpose, Preflight: a.Preflight,
	})
	unfit, is := errors.AsType[preview.UnfitError](err)
	switch {
	case is && unfit.Field == preview.FieldWaivers:
		return nil, exit.Usagef("--waive: %w", unfit.Err)
	case is:
		return nil, exit.UsageError{Err: unfit.Err}
	}
	return report, err
}

// read reads the cluster, once.
func (r *Request) read(ctx context.Context, a *Assessor) (err error) {
	if r.observed == nil {
		r.observed, err = a.Reader.Read(ctx, &r.Source)
	}
	return err
}

// asUsageError makes an unreachable target a usage error. Other errors are about the cluster.
func asUsageError(err error) error {
	if errors.Is(err, plan.ErrTarget) {
		return exit.UsageError{Err: err}
	}
	return err
}
