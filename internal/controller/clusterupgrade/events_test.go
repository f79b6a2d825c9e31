package clusterupgrade

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// statusWith is one of an operation.
func statusWith(phase refitv1alpha1.Phase, changes ...func(*refitv1alpha1.ClusterUpgradeStatus)) *refitv1alpha1.ClusterUpgradeStatus {
	out := &refitv1alpha1.ClusterUpgradeStatus{
		Phase: phase, Message: "Waiting", Nodes: refitv1alpha1.NodeCounts{Total: 3},
		Plan: &refitv1alpha1.PlanSummary{Hash: "sha256:1", From: "v1.35.4", To: "v1.36.3"},
	}
	for _, change := range changes {
		change(out)
	}
	return out
}

func is(condition string) func(*refitv1alpha1.ClusterUpgradeStatus) {
	return func(s *refitv1alpha1.ClusterUpgradeStatus) {
		s.Conditions = append(s.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionTrue})
	}
}

func failing(nodes ...string) func(*refitv1alpha1.ClusterUpgradeStatus) {
	return func(s *refitv1alpha1.ClusterUpgradeStatus) {
		for _, node := range nodes {
			s.Failures = append(s.Failures, refitv1alpha1.Failure{Node: node, Step: "swap-kubelet", Message: "it does not start", Remedy: "fix it"})
		}
	}
}

func working(nodes ...string) func(*refitv1alpha1.ClusterUpgradeStatus) {
	return func(s *refitv1alpha1.ClusterUpgradeStatus) { s.Active = nodes }
}

func TestEvents(t *testing.T) {
	claim := plan.Action{Kind: plan.Claim, Node: "n1", Reason: "1 of 1 slots"}
	fetch := plan.Action{Kind: plan.Prefetch, Node: "n1"}
	order := func(permit refitv1alpha1.Permit) *cluster.Upgrade {
		return &cluster.Upgrade{Spec: refitv1alpha1.NodeUpgradeSpec{Operation: refitv1alpha1.Operation{UID: "op"}, Permit: permit}}
	}
	free, done := plan.Action{Kind: plan.ReleaseNode, Node: "n1", Reason: "it is so"}, order(refitv1alpha1.PermitApply)
	done.Status.Phase = refitv1alpha1.NodeSucceeded
	running := refitv1alpha1.PhaseRunning
	for situation, tt := range map[string]struct {
		was, now *refitv1alpha1.ClusterUpgradeStatus
		do       []plan.Action
		order    *cluster.Upgrade
		approved string
		want     []string
	}{
		"nothing changed": {statusWith(running), statusWith(running), nil, nil, "", nil},
		"a plan was made": {
			statusWith(""), statusWith(running, is(refitv1alpha1.ConditionPlanned)), nil, nil, "", []string{"Planned Plan from v1.35.4 to v1.36.3, estimated 0s: sha256:1"},
		},
		"the plan was approved": {
			statusWith(refitv1alpha1.PhaseAwaitingApproval), statusWith(running, is(refitv1alpha1.ConditionApproved)), nil, nil, "sha256:1",
			[]string{"Approved Approved plan sha256:1"},
		},
		"no approval is required":  {statusWith(""), statusWith(running, is(refitv1alpha1.ConditionApproved)), nil, nil, "", nil},
		"the first nodes prefetch": {statusWith(""), statusWith(running), []plan.Action{fetch, fetch}, nil, "", []string{"Prefetching Prefetching v1.36.3 on 3 nodes, a few at a time"}},
		"more nodes prefetch":      {statusWith(running), statusWith(running), []plan.Action{fetch}, order(refitv1alpha1.PermitPrefetch), "", nil},
		"the first claim": {
			statusWith(running), statusWith(running),
			[]plan.Action{claim},
			order(refitv1alpha1.PermitPrefetch), "",
			[]string{"Prefetched Every node has prefetched what it needs", "n1 NodeSelected 1 of 1 slots"},
		},
		"a claim beside another": {
			statusWith(running, working("n2")), statusWith(running), []plan.Action{claim}, order(refitv1alpha1.PermitPrefetch), "", []string{"n1 NodeSelected 1 of 1 slots"},
		},
		"a claim after another": {
			statusWith(running), statusWith(running), []plan.Action{claim}, order(refitv1alpha1.PermitApply), "", []string{"n1 NodeSelected 1 of 1 slots"},
		},
		"a node is done":     {statusWith(running), statusWith(running), []plan.Action{free}, done, "", []string{"n1 Done it is so"}},
		"a node is released": {statusWith(running), statusWith(running), []plan.Action{free}, order(refitv1alpha1.PermitHold), "", []string{"n1 NodeReleased it is so"}},
		"a node has left":    {statusWith(running), statusWith(running), []plan.Action{free}, nil, "", []string{"n1 NodeReleased it is so"}},
		"a node fails": {
			statusWith(running), statusWith(running, failing("n1")), nil, nil, "", []string{"! n1 NodeFailed swap-kubelet: it does not start. Remedy: fix it"},
		},
		"another node fails, too": {
			statusWith(running, failing("n1")), statusWith(running, failing("n1", "n2")), nil, nil, "",
			[]string{"! n2 NodeFailed swap-kubelet: it does not start. Remedy: fix it"},
		},
		"it stalls":                 {statusWith(running), statusWith(refitv1alpha1.PhaseStalled), nil, nil, "", []string{"! Stalled Waiting"}},
		"it is still stalled":       {statusWith(refitv1alpha1.PhaseStalled), statusWith(refitv1alpha1.PhaseStalled), nil, nil, "", nil},
		"it continues":              {statusWith(refitv1alpha1.PhaseStalled), statusWith(running), nil, nil, "", nil},
		"a user pauses it":          {statusWith(running), statusWith(refitv1alpha1.PhasePaused), nil, nil, "", []string{"Paused Waiting"}},
		"a user resumes it":         {statusWith(refitv1alpha1.PhasePaused), statusWith(running), nil, nil, "", []string{"Resumed Waiting"}},
		"a user aborts it, paused":  {statusWith(refitv1alpha1.PhasePaused), statusWith(refitv1alpha1.PhaseAborting), nil, nil, "", []string{"Aborting Waiting"}},
		"it waits for an older one": {statusWith(""), statusWith(refitv1alpha1.PhaseWaiting), nil, nil, "", []string{"Waiting Waiting"}},
		"it has reached its target": {statusWith(running), statusWith(refitv1alpha1.PhaseSucceeded), nil, nil, "", []string{"Succeeded Waiting"}},
		"an order of another operation": {
			statusWith(""), statusWith(running), []plan.Action{fetch}, &cluster.Upgrade{}, "", []string{"Prefetching Prefetching v1.36.3 on 3 nodes, a few at a time"},
		},
	} {
		operation := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{UID: "op"}}
		operation.Spec.ApprovedPlan, operation.Spec.Aborted = tt.approved, tt.now.Phase == refitv1alpha1.PhaseAborting
		snapshot := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n1", Upgrade: tt.order}}}
		nodes := map[string]*cluster.Node{"n1": &snapshot.Nodes[0]}
		started := len(tt.was.Active) > 0 || tt.order != nil && tt.order.Spec.Permit == refitv1alpha1.PermitApply
		assessed := &assess.Assessment{Started: started, Decision: plan.Decision{Actions: tt.do}}
		s := &observation{operation: operation, snapshot: snapshot, nodes: nodes, Assessment: assessed}
		var got []string
		for _, e := range eventsFor(tt.was, tt.now, s) {
			text := fmt.Sprint(e.reason, " ", e.note)
			if e.node != "" {
				text = e.node + " " + text
			}
			if e.warning {
				text = "! " + text
			}
			got = append(got, text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got\n%q, want\n%q", situation, got, tt.want)
		}
	}
}
