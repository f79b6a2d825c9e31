package plan

import (
	"errors"
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// Recorded is the plan that an operation has recorded, for one that has none now: its
// ClusterRelease was deleted, or no path leads to its target. On it, Next starts nothing. It takes
// active nodes to a safe state, and ends an operation that is aborted.
func Recorded(s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec, problem error) *Plan {
	p := &Plan{To: spec.Target.Kubernetes, Hops: []Hop{{Kubernetes: spec.Target.Kubernetes}}, spec: policy.Defaulted(spec), problem: problem}
	recorded := s.Operation.Plan
	if recorded == nil || len(recorded.Hops) == 0 {
		return p
	}
	p.Hash, p.From, p.WorkersFrom, p.To, p.Hops = recorded.Hash, recorded.From, recorded.WorkersFrom, recorded.To, nil
	for _, h := range recorded.Hops {
		hop := Hop{Kubernetes: h.Kubernetes}
		if h.Release.Name != "" {
			hop.Release = &h.Release
		}
		p.Hops = append(p.Hops, hop)
	}
	return p
}

// planMissing holds an operation that has no plan.
func planMissing(d *deciding, _ *cluster.Node, _ int) *Wait {
	if d.plan.problem == nil {
		return nil
	}
	remedy := "Check that the nodes and the API servers report their versions: `kubectl get nodes; kubectl get --raw /version`"
	if errors.Is(d.plan.problem, ErrTarget) {
		remedy = "Run `refit abort`, then start an upgrade to a version that can be reached: `refit upgrade --to VERSION`"
	}
	if _, missing := errors.AsType[releaseNotFound](d.plan.problem); missing {
		remedy = "Apply the ClusterRelease again, or run `refit abort`"
	}
	return &Wait{
		state: Stalled, Reason: refitv1alpha1.ReasonBlocked, ManualIntervention: true, Remedy: remedy,
		Message: fmt.Sprintf("There is no path to the target: %v", d.plan.problem),
	}
}
