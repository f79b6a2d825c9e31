package main

import (
	"errors"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/progress"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// assess assesses an upgrade that does not exist yet. The waivers of flags, unlike those of a
// manifest, were typed for this cluster, so each must match.
func (a *app) assess(
	o *source.Observation, spec refitv1alpha1.ClusterUpgradeSpec, typed []refitv1alpha1.Waiver, purpose assess.Purpose,
) (*cliv1alpha1.Report, error) {
	assessed, err := assess.Preview(assess.Request{
		Snapshot: o.Snapshot, Spec: spec, Now: o.At, Purpose: purpose, Preflight: a.preflight,
	})
	if err != nil {
		return nil, asUsageError(err)
	}
	if err := request.MatchWaivers(typed, o.Snapshot, assessed.Checks); err != nil {
		return nil, exit.Usagef("--waive: %w", err)
	}
	return progress.NewReport(progress.Facts{
		Name: o.Cluster, Saved: o.Saved, Snapshot: o.Snapshot,
		From: assessed.Path.From.String(), To: assessed.Path.To.String(), Scope: policy.Defaulted(spec).Scope,
		Findings: *assessed.Checks, Plan: assessed.Plan,
	}), nil
}

// asUsageError makes an unreachable target a usage error. Other errors are about the cluster.
func asUsageError(err error) error {
	if errors.Is(err, plan.ErrTarget) {
		return exit.UsageError{Err: err}
	}
	return err
}
