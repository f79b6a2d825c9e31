package node

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const approvedPlan = "sha256:11"

// permitted returns an upgrade of a worker that its operation permits.
func permitted() (*Upgrade, Live) {
	op := &refitv1alpha1.ClusterUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: "op", UID: "u-op"},
		Spec:       refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}, ApprovedPlan: approvedPlan},
		Status:     refitv1alpha1.ClusterUpgradeStatus{Active: []string{"worker-1"}, Plan: &refitv1alpha1.PlanSummary{Hash: approvedPlan}},
	}
	return &Upgrade{
		Operation: refitv1alpha1.Operation{Name: "op", UID: "u-op"}, NodeName: "worker-1", Role: refitv1alpha1.RoleWorker,
		Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.36.3"}, From: "v1.35.4", To: "v1.36.3",
	}, Live{Operation: op, Target: "v1.36.3", Labels: map[string]string{"zone": "a"}}
}

func TestPermissionOfTheFirstChange(t *testing.T) {
	for situation, c := range map[string]struct {
		change func(*Upgrade, *Live)
		want   string // the reason; empty: it is permitted
	}{
		"the approved plan":                  {func(*Upgrade, *Live) {}, ""},
		"no approval needed":                 {func(_ *Upgrade, l *Live) { l.spec().ApprovedPlan, l.spec().Approval = "", refitv1alpha1.ApprovalNone }, ""},
		"no approval":                        {func(_ *Upgrade, l *Live) { l.spec().ApprovedPlan = "" }, "OperationNotApproved"},
		"another plan was approved":          {func(_ *Upgrade, l *Live) { l.spec().ApprovedPlan = "sha256:22" }, "OperationNotApproved"},
		"no plan and no approval":            {func(_ *Upgrade, l *Live) { l.spec().ApprovedPlan, l.Operation.Status.Plan = "", nil }, "OperationNotApproved"},
		"paused":                             {func(_ *Upgrade, l *Live) { l.spec().Paused = true }, "OperationPaused"},
		"aborted":                            {func(_ *Upgrade, l *Live) { l.spec().Aborted = true }, "OperationAborted"},
		"deleted":                            {func(_ *Upgrade, l *Live) { l.Operation.DeletionTimestamp = &metav1.Time{} }, "OperationAborted"},
		"ended":                              {func(_ *Upgrade, l *Live) { end(l.Operation) }, "OperationEnded"},
		"another operation of the same name": {func(_ *Upgrade, l *Live) { l.Operation.UID = "u-2" }, "OperationMissing"},
		"not active":                         {func(_ *Upgrade, l *Live) { l.Operation.Status.Active = []string{"worker-2"} }, "NodeNotActive"},
		"only the control plane":             {func(_ *Upgrade, l *Live) { l.spec().Scope = refitv1alpha1.ScopeControlPlane }, "NodeOutOfScope"},
		"only workers":                       {func(_ *Upgrade, l *Live) { l.spec().Scope = refitv1alpha1.ScopeWorkers }, ""},
		"only workers, on the control plane": {func(u *Upgrade, l *Live) {
			u.Role, l.spec().Scope = refitv1alpha1.RoleControlPlane, refitv1alpha1.ScopeWorkers
		}, "NodeOutOfScope"},
		"selected":     {func(_ *Upgrade, l *Live) { l.spec().NodeSelector = refitv1alpha1.Labels{"zone": "a"} }, ""},
		"not selected": {func(_ *Upgrade, l *Live) { l.spec().NodeSelector = refitv1alpha1.Labels{"zone": "b"} }, "NodeOutOfScope"},
		"the selector is about workers": {func(u *Upgrade, l *Live) {
			u.Role, l.spec().NodeSelector = refitv1alpha1.RoleControlPlane, refitv1alpha1.Labels{"zone": "b"}
		}, ""},
		"a hop":                              {func(_ *Upgrade, l *Live) { l.Target = "v1.37.0" }, ""},
		"a newer patch":                      {func(u *Upgrade, _ *Live) { u.To = "v1.36.4" }, "ReleaseNotOnPath"},
		"an older patch":                     {func(u *Upgrade, _ *Live) { u.To = "v1.36.2" }, "ReleaseNotOnPath"},
		"a newer minor version":              {func(u *Upgrade, _ *Live) { u.To = "v1.37.0" }, "ReleaseNotOnPath"},
		"no version":                         {func(_ *Upgrade, l *Live) { l.Target = "" }, "ReleaseNotOnPath"},
		"the target by name":                 {func(_ *Upgrade, l *Live) { l.spec().Target = refitv1alpha1.Target{Release: "kubernetes-v1.36.3"} }, ""},
		"another ClusterRelease of the same": {func(_ *Upgrade, l *Live) { l.spec().Target = refitv1alpha1.Target{Release: "custom"} }, "ReleaseNotOnPath"},
		"a hop to a target by name": {func(_ *Upgrade, l *Live) {
			l.spec().Target, l.Target = refitv1alpha1.Target{Release: "kubernetes-v1.37.0"}, "v1.37.0"
		}, ""},
	} {
		t.Run(situation, func(t *testing.T) {
			u, live := permitted()
			c.change(u, &live)
			got := ""
			if failure := Permission(u, live); failure != nil {
				got = failure.Reason
			}
			if got != c.want {
				t.Errorf("the reason is %q, want %q", got, c.want)
			}
		})
	}
}

func (l *Live) spec() *refitv1alpha1.ClusterUpgradeSpec { return &l.Operation.Spec }

func end(op *refitv1alpha1.ClusterUpgrade) {
	op.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: refitv1alpha1.ReasonSucceeded}}
}

// Only the first change needs permission: what was changed is finished without the API.
func TestOnlyTheFirstChangeNeedsPermission(t *testing.T) {
	u, _ := permitted()
	records := []Record{
		{Kind: Opened, Upgrade: u}, {Kind: Ordered, Order: &Order{Sequence: 1, Permit: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.RollbackAuto}},
	}
	var asked []string
	for {
		state := Read(records)
		move := state.Next()
		if move.Kind != MoveRun {
			break
		}
		if state.IsFirstChange(move) {
			asked = append(asked, move.Step.Name)
		}
		records = append(records, Record{Kind: Started, Step: move.Step.Name})
		if open := Read(records); open.IsFirstChange(open.Next()) {
			t.Errorf("the resumed step %s needs permission", move.Step.Name)
		}
		records = append(records, Record{Kind: Done, Step: move.Step.Name})
	}
	if len(asked) != 1 || asked[0] != StepKubeletConfig {
		t.Errorf("these steps need permission: %v", asked)
	}
	back := Read(append(records[:2:2], Record{Kind: Ordered, Order: &Order{Sequence: 2, Permit: refitv1alpha1.PermitRollback}}))
	if back.IsFirstChange(back.Next()) {
		t.Error("a rollback needs permission")
	}
}
