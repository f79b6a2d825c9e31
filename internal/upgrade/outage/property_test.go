package outage_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/outage"
)

var (
	names  = []string{"cp-1", "cp-2", "cp-3", "w-1"}
	phases = []refitv1alpha1.NodePhase{
		refitv1alpha1.NodeIdle, refitv1alpha1.NodeApplying, refitv1alpha1.NodeApplying, refitv1alpha1.NodeApplying, refitv1alpha1.NodeRollingBack,
		refitv1alpha1.NodeSucceeded, refitv1alpha1.NodeFailed, refitv1alpha1.NodeRolledBack,
	}
	roles    = []refitv1alpha1.Role{refitv1alpha1.RoleFirstControlPlane, refitv1alpha1.RoleControlPlane, refitv1alpha1.RoleWorker}
	stepsAll = []string{
		"", node.StepFetch, node.StepRender, node.StepPods, node.StepControllers,
		node.StepEtcd, node.StepAPIServer, node.StepEtcd, node.StepAPIServer, node.StepEtcd, node.StepAPIServer, node.StepEtcd, node.StepAPIServer,
		node.StepContainerd, node.StepKubelet, node.StepVerify, node.StepVerifyOld, "unknown-step",
	}
)

func draw(t *rapid.T) *outage.Input {
	in := &outage.Input{
		Since: began, Members: rapid.IntRange(0, 5).Draw(t, "members"), Now: after(rapid.OneOf(rapid.IntRange(0, 60), rapid.IntRange(0, 900)).Draw(t, "now")),
		ObservedAt: after(rapid.OneOf(rapid.IntRange(-5, 0), rapid.IntRange(-30, 5)).Draw(t, "observed")),
		Usual:      map[string]time.Duration{node.StepAPIServer: time.Minute, node.StepEtcd: time.Minute},
	}
	for _, name := range names[:rapid.SampledFrom([]int{0, 1, 1, 1, 2, 3}).Draw(t, "servers")] {
		in.Servers = append(in.Servers, outage.Server{Node: name, Reach: rapid.SampledFrom([]outage.Reach{outage.Unchecked, outage.Silent, outage.Silent}).Draw(t, "reach")})
	}
	if rapid.IntRange(0, 3).Draw(t, "operation") > 0 {
		in.Operation = operation(rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, "active")...)
	}
	for _, name := range names {
		if rapid.Bool().Draw(t, "order") {
			o := order(name, rapid.SampledFrom(stepsAll).Draw(t, "step"), rapid.OneOf(rapid.IntRange(-10, 5), rapid.IntRange(-60, 60)).Draw(t, "start"))
			o.Status.Phase, o.Spec.Role = rapid.SampledFrom(phases).Draw(t, "phase"), rapid.SampledFrom(roles).Draw(t, "role")
			in.Orders = append(in.Orders, o)
		}
	}
	if rapid.Bool().Draw(t, "agent") {
		in.Agent = agent(rapid.SampledFrom(stepsAll).Draw(t, "agent step"), rapid.OneOf(rapid.IntRange(-10, 5), rapid.IntRange(-60, 60)).Draw(t, "agent start"))
		in.Agent.ObservedAt = in.Now.Add(-time.Duration(rapid.OneOf(rapid.IntRange(0, 5), rapid.IntRange(0, 60)).Draw(t, "age")) * time.Second)
		in.Agent.Phase = string(rapid.SampledFrom(phases).Draw(t, "agent phase"))
		in.Agent.Upgrade.Role = string(rapid.SampledFrom(roles).Draw(t, "agent role"))
		in.Agent.Waits = rapid.SampledFrom([]string{"", "", "another node"}).Draw(t, "waits")
	}
	return in
}

// restarts lists the steps that explain an outage, apart from the list that the decision uses.
var restarts = map[string]bool{node.StepEtcd: true, node.StepAPIServer: true}

// TestExpectedOnlyWithAStepThatRestartsTheAPIServer compares with a simpler rule: whatever else is
// known, an active control plane node is at such a step.
func TestExpectedOnlyWithAStepThatRestartsTheAPIServer(t *testing.T) {
	expected := 0
	property := func(t *rapid.T) {
		in := draw(t)
		got := outage.Decide(in)
		if got == nil || !got.Expected {
			return
		}
		expected++
		proven := map[string]string{}
		for _, o := range in.Orders {
			if in.Operation != nil && o.Spec.Role != refitv1alpha1.RoleWorker && restarts[o.Status.Step] && inProgress(string(o.Status.Phase)) && slices.Contains(in.Operation.Status.Active, o.Name) {
				proven[o.Name] = o.Status.Step
			}
		}
		if a := in.Agent; a != nil {
			if in.Now.Sub(a.ObservedAt) <= 12*time.Second && a.Upgrade.Role != string(refitv1alpha1.RoleWorker) {
				delete(proven, a.Node) // it replaces what was last known
			}
			if a.Upgrade.Role != string(refitv1alpha1.RoleWorker) && restarts[a.Step.Name] && inProgress(a.Phase) && a.Waits == "" {
				proven[a.Node] = a.Step.Name
			}
		}
		if proven[got.Node] != got.Step {
			t.Fatalf("expected with %q at %q: %s", got.Node, got.Step, got.Message)
		}
		quorum := got.Step == node.StepEtcd && in.Members > 0 && in.Members <= 2
		for _, name := range proven {
			quorum = quorum || name == node.StepEtcd && in.Members > 0 && in.Members <= 2
		}
		for _, s := range in.Servers {
			if proven[s.Node] == "" && !quorum {
				t.Fatalf("nothing explains the API server of %s: %s", s.Node, got.Message)
			}
		}
		if len(in.Servers) == 0 || got.Cause != cliv1alpha1.OutageStep || in.Now.Sub(got.StepSince) > 10*time.Minute+time.Minute+5*time.Minute {
			t.Fatalf("%+v", got)
		}
	}
	// Few of the drawn outages are expected, so it is drawn until some are.
	for round := 0; round < 50 && expected < 3; round++ {
		rapid.Check(t, property)
	}
	if expected == 0 {
		t.Error("no drawn situation was expected, so nothing was tested")
	}
}

func inProgress(phase string) bool {
	return phase == string(refitv1alpha1.NodeApplying) || phase == string(refitv1alpha1.NodeRollingBack)
}
