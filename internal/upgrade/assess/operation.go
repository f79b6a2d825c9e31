package assess

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// Operation assesses the operation of a Snapshot and decides what to do next.
func Operation(s *cluster.Snapshot, now time.Time) *Assessment {
	spec := policy.Defaulted(s.Operation.Spec)
	a := &Assessment{Started: started(s)}
	if a.Plan, a.PlanError = a.makePlan(s, spec); a.PlanError != nil {
		a.Decision = plan.Next(plan.Recorded(s, spec, a.PlanError), s, now, nil)
		return a
	}
	a.Path, _ = plan.PathOf(s, spec) // a plan has a path
	if !a.Started && !spec.Aborted {
		checks := preflight.Run(preflight.Input{Snapshot: s, Spec: spec, Path: a.Path, Now: now})
		a.Checks = &checks
	}
	var blocking *plan.Blocking
	if f := a.Blocking(); f != nil {
		blocking = &plan.Blocking{Check: f.Check, Message: f.Message, Remedy: f.Remedy}
	}
	a.Decision = plan.Next(a.Plan, s, now, blocking)
	return a
}

// makePlan makes only an outline once the upgrade has started and its plan is unchanged: the
// outline decides the same and stays cheap with thousands of nodes.
func (a *Assessment) makePlan(s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec) (*plan.Plan, error) {
	if recorded := s.Operation.Plan; recorded != nil && a.Started {
		if outline, err := plan.Outline(s, spec); err != nil || outline.Hash == recorded.Hash {
			return outline, err
		}
	}
	return plan.Make(s, spec)
}

// started reports whether the operation has claimed a node, or ever ordered one or a component to
// change.
func started(s *cluster.Snapshot) bool {
	if len(s.Operation.Active) > 0 {
		return true
	}
	for i := range s.ComponentUpgrades {
		if string(s.ComponentUpgrades[i].Spec.Operation.UID) == s.Operation.UID {
			return true
		}
	}
	for i := range s.Nodes {
		u := s.Nodes[i].Upgrade
		if u == nil || string(u.Spec.Operation.UID) != s.Operation.UID {
			continue
		}
		switch u.Spec.Permit {
		case refitv1alpha1.PermitPrefetch, refitv1alpha1.PermitHold:
		case refitv1alpha1.PermitBackup: // it replaced an order that may have changed the host
			if node.Disrupted(u.Status.Steps) {
				return true
			}
		case refitv1alpha1.PermitApply, refitv1alpha1.PermitRollback:
			return true
		}
	}
	return false
}
