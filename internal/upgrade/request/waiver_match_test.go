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
		{Check: "UnmanagedPod", Object: "Pod shop/debug", Waived: &refitv1alpha1.Waiver{}},
	}}
	for situation, c := range map[string]struct{ check, object, want string }{
		"the object of a finding":                   {"BudgetNeverAllows", "PodDisruptionBudget shop/search", ""},
		"all objects":                               {"BudgetNeverAllows", "", ""},
		"all objects of a check without a finding":  {"DiskTooSmall", "", ""},
		"an object without its kind":                {"BudgetNeverAllows", "shop/cart", "as `refit check` prints it: PodDisruptionBudget shop/cart, PodDisruptionBudget shop/search"},
		"the object of another check":               {"BudgetNeverAllows", "Node worker-1", `BudgetNeverAllows has no finding for "Node worker-1"`},
		"an object of a finding about the cluster":  {"EtcdTwoMembers", "Node cp-1", "Use EtcdTwoMembers=REASON"},
		"an object of a check without a finding":    {"DiskTooSmall", "Node worker-1", ""},
		"an object that is gone, others are waived": {"UnmanagedPod", "Pod shop/gone", ""},
		"a node that does not exist":                {"DiskTooSmall", "Node nosuch", "node nosuch does not exist"},
		"a node without its kind":                   {"DiskTooSmall", "worker-1", "has no kind"},
		"a peer of a component":                     {"PeerUnknown", "turin", ""},
	} {
		t.Run(situation, func(t *testing.T) {
			err := request.MatchWaivers([]refitv1alpha1.Waiver{{Check: c.check, Object: c.object, Reason: "known"}}, clustertest.HA("v1.35.4", 3, 2), report)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("MatchWaivers() = %v, want %q", err, c.want)
			}
		})
	}
}

func TestAWaiverOfACheckThatNeedsAnAgent(t *testing.T) {
	// worker-2 is the only node without an agent.
	partly := clustertest.HA("v1.35.4", 3, 2, clustertest.Agents(), clustertest.OnNode("worker-2", func(n *cluster.Node) { n.Report = nil }))
	for situation, c := range map[string]struct {
		snapshot *cluster.Snapshot
		object   string
		want     string // part of the error, empty if the waiver is accepted
		warning  string // part of the message of WaiverUnused
	}{
		"no agents, a node":                     {clustertest.HA("v1.35.4", 3, 2), "Node worker-1", "", "matches no finding yet"},
		"no agents, a node that does not exist": {clustertest.HA("v1.35.4", 3, 2), "Node nosuch", "node nosuch does not exist", "node nosuch does not exist"},
		"no agents, a node without its kind":    {clustertest.HA("v1.35.4", 3, 2), "worker-1", "has no kind", "has no kind"},
		"all agents": {
			clustertest.HA("v1.35.4", 3, 2, clustertest.Agents()), "Node nosuch", "node nosuch does not exist", "node nosuch does not exist",
		},
		"one agent is missing, its own node":                  {partly, "Node worker-2", "", "matches no finding yet"},
		"one agent is missing, another node":                  {partly, "Node worker-1", "", "matches no finding"},
		"one agent is missing, a node that does not exist":    {partly, "Node nosuch", "DiskTooSmall: node nosuch does not exist. Use", "node nosuch does not exist"},
		"one agent is missing, an API server that is unknown": {partly, "API server nosuch", "node nosuch does not exist", "node nosuch does not exist"},
	} {
		t.Run(situation, func(t *testing.T) {
			waivers := []refitv1alpha1.Waiver{{Check: "DiskTooSmall", Object: c.object, Reason: "known"}}
			report := preflight.Run(preflight.Input{
				Snapshot: c.snapshot, Path: hop, Now: clustertest.Now, Spec: refitv1alpha1.ClusterUpgradeSpec{Waivers: waivers},
			})
			err := request.MatchWaivers(waivers, c.snapshot, &report)
			if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("MatchWaivers() = %v, want %q", err, c.want)
			}
			for _, f := range report.Findings {
				if f.Check != "WaiverUnused" {
					continue
				}
				if f.Severity != preflight.Warn || !strings.Contains(f.Message, c.warning) {
					t.Errorf("%s: %s, want a warning with %q", f.Severity, f.Message, c.warning)
				}
			}
		})
	}
}

var (
	target = skew.Version{Major: 1, Minor: 36, Patch: 3}
	hop    = skew.Path{From: skew.Version{Major: 1, Minor: 35, Patch: 4}, To: target, Hops: []skew.Version{target}, WorkersFollow: []bool{true}}
)
