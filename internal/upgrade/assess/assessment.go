package assess

import (
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// Assessment is the result of assessing one Snapshot.
type Assessment struct {
	// Path is the path from the cluster's versions to the target.
	Path skew.Path
	// Checks are the preflight findings. They are nil once the upgrade has started: from then on
	// the gates of each step replace them.
	Checks *preflight.Report
	// Plan is nil if none was requested or none can be made; PlanError is the reason.
	Plan      *plan.Plan
	PlanError error
	// Started reports whether the operation has touched a node.
	Started bool
	// Decision is what to do next. Only Operation sets it.
	Decision plan.Decision
}

// Blocking is the first finding that keeps the upgrade from starting, nil if there is none. A
// deferred finding blocks too: its answer will not come without an agent or a ClusterRelease.
func (a *Assessment) Blocking() *preflight.Finding {
	if a.Checks == nil {
		return nil
	}
	for i := range a.Checks.Findings {
		if f := &a.Checks.Findings[i]; f.Severity == preflight.Block && f.Waived == nil {
			return f
		}
	}
	return nil
}

// disruptive are the actions that make something unavailable, let an agent do so, or end a claim.
var disruptive = map[plan.ActionKind]bool{
	plan.Claim: true, plan.Cordon: true, plan.Drain: true, plan.Apply: true, plan.ReleaseNode: true, plan.Finish: true,
	plan.ApplyComponent: true,
}

// Disrupts reports whether the decision contains a disruptive action.
func (a *Assessment) Disrupts() bool {
	for i := range a.Decision.Actions {
		if disruptive[a.Decision.Actions[i].Kind] {
			return true
		}
	}
	return false
}
