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
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
	"github.com/refit-dev/refit/internal/upgrade/progress"
	"github.com/refit-dev/refit/internal/upgrade/request"
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
	o, spec := r.observed, upgrade.Spec
	if err := request.ValidateFor(spec, o.Snapshot); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	assessed, err := assess.Preview(assess.Request{Snapshot: o.Snapshot, Spec: spec, Now: o.At, Purpose: purpose, Preflight: a.Preflight})
	if err != nil {
		return nil, asUsageError(err)
	}
	// The waivers of flags, unlike those of a manifest, were typed for this cluster, so each must
	// match.
	if err := request.MatchWaivers(r.waivers, o.Snapshot, assessed.Checks); err != nil {
		return nil, exit.Usagef("--waive: %w", err)
	}
	return progress.NewReport(progress.Facts{
		Name: o.Cluster, Saved: o.Saved, Snapshot: o.Snapshot,
		From: assessed.Path.From.String(), To: assessed.Path.To.String(), Scope: policy.Defaulted(spec).Scope,
		Findings: *assessed.Checks, Plan: assessed.Plan, Components: r.Components,
	}), nil
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
