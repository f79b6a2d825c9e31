package request_test

import (
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
	"github.com/refit-dev/refit/internal/upgrade/request"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

func TestAWaiverForAnObjectMatchesAFinding(t *testing.T) {
	report := &preflight.Report{Findings: []preflight.Finding{
		{Check: "BudgetNeverAllows", Object: "PodDisruptionBudget shop/cart"},
		{Check: "BudgetNeverAllows", Object: "PodDisruptionBudget shop/search"},
		{Check: "EtcdTwoMembers"},
		{Check: "SwapOn", Object: "Node worker-1"},
	}}
	for situation, c := range map[string]struct{ check, object, want string }{
		"the object of a finding":                  {"BudgetNeverAllows", "PodDisruptionBudget shop/search", ""},
		"all objects":                              {"BudgetNeverAllows", "", ""},
		"all objects of a check without a finding": {"DiskTooSmall", "", ""},
		"an object without its kind":               {"BudgetNeverAllows", "shop/cart", "as `refit check` prints it: PodDisruptionBudget shop/cart, PodDisruptionBudget shop/search"},
		"the object of another check":              {"BudgetNeverAllows", "Node worker-1", `BudgetNeverAllows has no finding for "Node worker-1"`},
		"an object of a finding about the cluster": {"EtcdTwoMembers", "Node cp-1", "Use EtcdTwoMembers=REASON"},
		"an object of a check without a finding":   {"DiskTooSmall", "Node worker-1", "Remove the waiver"},
	} {
		t.Run(situation, func(t *testing.T) {
			err := request.MatchWaivers([]refitv1alpha1.Waiver{{Check: c.check, Object: c.object, Reason: "known"}}, report)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("MatchWaivers() = %v, want %q", err, c.want)
			}
		})
	}
}

func TestAWaiverOfACheckThatNeedsAnAgentNeedNotMatchYet(t *testing.T) {
	target := skew.Version{Major: 1, Minor: 36, Patch: 3}
	for situation, c := range map[string]struct {
		snapshot *cluster.Snapshot
		accepted bool
	}{
		"without agents": {clustertest.HA("v1.35.4", 3, 2), true},
		"with agents":    {clustertest.HA("v1.35.4", 3, 2, clustertest.Agents()), false},
	} {
		path := skew.Path{From: skew.Version{Major: 1, Minor: 35, Patch: 4}, To: target, Hops: []skew.Version{target}, WorkersFollow: []bool{true}}
		report := preflight.Run(preflight.Input{Snapshot: c.snapshot, Path: path, Now: clustertest.Now})
		err := request.MatchWaivers([]refitv1alpha1.Waiver{{Check: "SwapOn", Object: "Node nosuch", Reason: "known"}}, &report)
		if (err == nil) != c.accepted {
			t.Errorf("%s: MatchWaivers() = %v", situation, err)
		}
	}
}
