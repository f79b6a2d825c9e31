package main

import (
	"errors"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/cmd/refit/output"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// think looks at a Snapshot for what was asked: what stands in the way and, if it is wanted, what would happen.
func (a *app) think(s *seen, spec refitv1alpha1.ClusterUpgradeSpec, withPlan bool) (*output.Report, error) {
	spec = policy.Defaulted(spec)
	path, err := plan.PathOf(s.snapshot, spec)
	if err != nil {
		return nil, whose(err)
	}
	facts := output.Facts{
		Name: s.name, Saved: s.saved, Snapshot: s.snapshot,
		From: path.From.String(), To: path.To.String(), Scope: spec.Scope,
		Seen: a.preflight(preflight.Input{Snapshot: s.snapshot, Spec: spec, Path: path, Now: a.now()}),
	}
	if withPlan {
		if facts.Plan, err = plan.Make(s.snapshot, spec); err != nil {
			return nil, whose(err)
		}
	}
	return output.New(facts), nil
}

// whose tells a target that cannot be reached, which is the fault of who asked for it, from a cluster of which too little is known.
func whose(err error) error {
	if errors.Is(err, plan.ErrTarget) {
		return usageError{err}
	}
	return err
}
