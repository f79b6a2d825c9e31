// Package preview assesses an upgrade that does not exist yet, and reports the result as a
// document: the CLI and a server give the same answer to the same request.
package preview

import (
	"errors"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
	"github.com/refit-dev/refit/internal/upgrade/progress"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// Request is an upgrade to assess, and the cluster to assess it for.
type Request struct {
	Cluster  string // the user's name for the cluster
	Saved    string // the file that the Snapshot was read from, empty for a live cluster
	Snapshot *cluster.Snapshot
	Spec     refitv1alpha1.ClusterUpgradeSpec
	// Waivers must match findings: they were written for this cluster.
	Waivers []refitv1alpha1.Waiver
	// Components is true for an upgrade of components alone.
	Components bool
	At         time.Time
	Purpose    assess.Purpose
	// Preflight runs the checks. It is preflight.Run if nil.
	Preflight func(preflight.Input) preflight.Report
}

// The fields of a spec that do not fit the cluster.
const (
	FieldPools   = "pools"
	FieldTarget  = "target"
	FieldWaivers = "waivers"
)

// UnfitError is the error of a valid spec that does not fit the cluster.
type UnfitError struct {
	Field string
	Err   error
}

func (e UnfitError) Error() string { return e.Err.Error() }

func (e UnfitError) Unwrap() error { return e.Err }

// Report assesses the upgrade.
func Report(r Request) (*cliv1alpha1.Report, error) {
	if err := request.ValidateFor(r.Spec, r.Snapshot); err != nil {
		return nil, UnfitError{FieldPools, err}
	}
	assessed, err := assess.Preview(assess.Request{Snapshot: r.Snapshot, Spec: r.Spec, Now: r.At, Purpose: r.Purpose, Preflight: r.Preflight})
	if errors.Is(err, plan.ErrTarget) {
		return nil, UnfitError{FieldTarget, err}
	}
	if err != nil {
		return nil, err
	}
	if err := request.MatchWaivers(r.Waivers, r.Snapshot, assessed.Checks); err != nil {
		return nil, UnfitError{FieldWaivers, err}
	}
	return progress.NewReport(progress.Facts{
		Name: r.Cluster, Saved: r.Saved, Snapshot: r.Snapshot,
		From: assessed.Path.From.String(), To: assessed.Path.To.String(), Scope: policy.Defaulted(r.Spec).Scope,
		Findings: *assessed.Checks, Plan: assessed.Plan, Components: r.Components,
	}), nil
}
