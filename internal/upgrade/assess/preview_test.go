package assess

import (
	"errors"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

func to(version string) refitv1alpha1.ClusterUpgradeSpec {
	return refitv1alpha1.ClusterUpgradeSpec{
		Target: refitv1alpha1.Target{Kubernetes: version}, Approval: refitv1alpha1.ApprovalNone,
	}
}

// ready is a cluster with agents and a ClusterRelease, which nothing blocks.
func ready(changes ...clustertest.Change) *cluster.Snapshot {
	all := append([]clustertest.Change{clustertest.Agents(), clustertest.Released("v1.36.3")}, changes...)
	return clustertest.HA("v1.35.4", 3, 2, all...)
}

func TestPreviewByPurpose(t *testing.T) {
	agentless := clustertest.HA("v1.35.4", 3, 2, clustertest.Released("v1.36.3"))
	for situation, c := range map[string]struct {
		snapshot *cluster.Snapshot
		purpose  Purpose
		planned  bool
		blocked  bool
	}{
		"check a ready cluster":             {ready(), ForCheck, false, false},
		"plan a ready cluster":              {ready(), ForPlan, true, false},
		"start on a ready cluster":          {ready(), ForStart, true, false},
		"check a cluster without agents":    {agentless, ForCheck, false, false},
		"plan a cluster without agents":     {agentless, ForPlan, true, false},
		"start on a cluster without agents": {agentless, ForStart, true, true},
	} {
		t.Run(situation, func(t *testing.T) {
			a, err := Preview(Request{Snapshot: c.snapshot, Spec: to("v1.36.3"), Now: clustertest.Now, Purpose: c.purpose})
			if err != nil {
				t.Fatal(err)
			}
			if planned := a.Plan != nil; planned != c.planned {
				t.Errorf("it has a plan: %v, want %v", planned, c.planned)
			}
			if blocked := a.Checks.Blocked(); blocked != c.blocked {
				t.Errorf("it is blocked: %v, want %v (%+v)", blocked, c.blocked, a.Checks.Summary)
			}
			if from, want := a.Path.From.String(), "v1.35.4"; from != want {
				t.Errorf("the path starts at %s, want %s", from, want)
			}
		})
	}
}

func TestPreviewOfAnUnreachableTarget(t *testing.T) {
	for situation, target := range map[string]string{"a downgrade": "v1.34.1", "a version without facts": "v1.40.0"} {
		_, err := Preview(Request{Snapshot: ready(), Spec: to(target), Now: clustertest.Now, Purpose: ForPlan})
		if !errors.Is(err, plan.ErrTarget) {
			t.Errorf("%s: Preview() = %v, want ErrTarget", situation, err)
		}
	}
}

func TestPreviewRunsTheGivenChecks(t *testing.T) {
	given := func(in preflight.Input) preflight.Report {
		if in.Spec.Scope == "" {
			t.Error("the spec has no defaults")
		}
		return preflight.Report{Summary: preflight.Summary{Checks: 7}}
	}
	a, err := Preview(Request{Snapshot: ready(), Spec: to("v1.36.3"), Now: clustertest.Now, Preflight: given})
	if err != nil || a.Checks.Summary.Checks != 7 {
		t.Errorf("Preview() = %+v, %v", a, err)
	}
}
