package assess

import (
	"fmt"
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// Purpose is what a preview is for. Each purpose includes the ones before it.
type Purpose int

// The purposes.
const (
	// ForCheck runs the preflight checks.
	ForCheck Purpose = iota
	// ForPlan makes a plan as well. Findings that wait for an agent or a ClusterRelease do not
	// block it.
	ForPlan
	// ForStart prepares to start the upgrade, so deferred findings block.
	ForStart
)

// Request is an upgrade that does not exist yet.
type Request struct {
	Snapshot *cluster.Snapshot
	Spec     refitv1alpha1.ClusterUpgradeSpec
	Now      time.Time
	Purpose  Purpose
	// Preflight runs the checks. It is preflight.Run if nil.
	Preflight func(preflight.Input) preflight.Report
}

// Preview assesses an upgrade before it exists. The error is plan.ErrTarget if no plan leads to
// the target; other errors are about the cluster.
func Preview(r Request) (*Assessment, error) {
	spec := policy.Defaulted(r.Spec)
	path, err := Reach(r.Snapshot, spec)
	if err != nil {
		return nil, err
	}
	run := r.Preflight
	if run == nil {
		run = preflight.Run
	}
	checks := run(preflight.Input{Snapshot: r.Snapshot, Spec: spec, Path: path, Now: r.Now})
	if r.Purpose == ForStart {
		checks = checks.Strict()
	}
	out := &Assessment{Path: path, Checks: &checks}
	if r.Purpose == ForCheck {
		return out, nil
	}
	if out.Plan, err = plan.Make(r.Snapshot, spec); err != nil {
		return nil, err
	}
	return out, nil
}

// Reach finds the path to the target of an upgrade. The error is plan.ErrTarget if there is none,
// or if Refit does not support the target.
func Reach(s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec) (skew.Path, error) {
	path, err := plan.PathOf(s, spec)
	if err == nil {
		err = supported(path.To)
	}
	return path, err
}

// supported refuses a target that Refit has no facts about: its checks could not be evaluated.
func supported(to skew.Version) error {
	known := kubefacts.Supported()
	if slices.Contains(known, to.MinorString()) {
		return nil
	}
	return fmt.Errorf("%w %s: this version of Refit supports Kubernetes %s", plan.ErrTarget, to, strings.Join(known, ", "))
}
