package assess

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

var statusTime = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

func assessed(state plan.State, changes ...func(*Assessment)) *Assessment {
	a := &Assessment{
		Plan:     &plan.Plan{Hash: "sha256:new", From: "v1.35.4", To: "v1.36.3", Stages: []plan.Stage{{Name: refitv1alpha1.StagePrefetch}}},
		Decision: plan.Decision{State: state, Message: "Draining worker-1"},
	}
	for _, change := range changes {
		change(a)
	}
	return a
}

func waits(w ...plan.Wait) func(*Assessment) {
	return func(a *Assessment) { a.Decision.Waiting = w }
}

func hasStarted(a *Assessment) { a.Started = true }

// kstatus reports Failed for Stalled, InProgress for Reconciling and Current for Ready alone.
func TestConditionsOfEachState(t *testing.T) {
	for state, want := range map[plan.State]string{
		plan.Running:          "Ready=False Reconciling=True Stalled=False",
		plan.AwaitingApproval: "Ready=False Reconciling=True Stalled=False",
		plan.Queued:           "Ready=False Reconciling=True Stalled=False",
		plan.Paused:           "Ready=False Reconciling=True Stalled=False",
		plan.Stalled:          "Ready=False Reconciling=False Stalled=True",
		plan.Aborting:         "Ready=False Reconciling=True Stalled=False",
		plan.Succeeded:        "Ready=True Reconciling=False Stalled=False",
		plan.Aborted:          "Ready=False Reconciling=False Stalled=True",
	} {
		u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Generation: 4}}
		UpdateStatus(u, assessed(state), statusTime)
		var got []string
		for _, kind := range []string{refitv1alpha1.ConditionReady, refitv1alpha1.ConditionReconciling, refitv1alpha1.ConditionStalled} {
			c := meta.FindStatusCondition(u.Status.Conditions, kind)
			got = append(got, kind+"="+string(c.Status))
			if c.ObservedGeneration != 4 {
				t.Errorf("%s: %s has observedGeneration %d", state, kind, c.ObservedGeneration)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", state, got, want)
		}
		if ended := state == plan.Succeeded || state == plan.Aborted; u.HasEnded() != ended {
			t.Errorf("%s: HasEnded() = %v", state, u.HasEnded())
		}
	}
}

// The time of Approved decides which workers joined after the plan was approved.
func TestApproved(t *testing.T) {
	const approved = "sha256:new"
	for situation, tt := range map[string]struct {
		state plan.State
		spec  refitv1alpha1.ClusterUpgradeSpec
		want  metav1.ConditionStatus // empty: not set
	}{
		"it waits for approval":             {plan.AwaitingApproval, refitv1alpha1.ClusterUpgradeSpec{}, metav1.ConditionFalse},
		"it was approved":                   {plan.Running, refitv1alpha1.ClusterUpgradeSpec{ApprovedPlan: approved}, metav1.ConditionTrue},
		"it needs no approval":              {plan.Running, refitv1alpha1.ClusterUpgradeSpec{Approval: refitv1alpha1.ApprovalNone}, metav1.ConditionTrue},
		"an older operation is unfinished":  {plan.Queued, refitv1alpha1.ClusterUpgradeSpec{}, ""},
		"queued, and it needs no approval":  {plan.Queued, refitv1alpha1.ClusterUpgradeSpec{Approval: refitv1alpha1.ApprovalNone}, ""},
		"queued, and it was approved":       {plan.Queued, refitv1alpha1.ClusterUpgradeSpec{ApprovedPlan: approved}, ""},
		"stalled before it was approved":    {plan.Stalled, refitv1alpha1.ClusterUpgradeSpec{}, ""},
		"aborted before it was approved":    {plan.Aborting, refitv1alpha1.ClusterUpgradeSpec{Aborted: true}, ""},
		"stalled, and it needs no approval": {plan.Stalled, refitv1alpha1.ClusterUpgradeSpec{Approval: refitv1alpha1.ApprovalNone}, metav1.ConditionTrue},
	} {
		u := &refitv1alpha1.ClusterUpgrade{Spec: tt.spec}
		UpdateStatus(u, assessed(tt.state), statusTime)
		got := metav1.ConditionStatus("")
		if c := meta.FindStatusCondition(u.Status.Conditions, refitv1alpha1.ConditionApproved); c != nil {
			got = c.Status
		}
		if got != tt.want {
			t.Errorf("%s: Approved is %q, want %q", situation, got, tt.want)
		}
	}
}

func TestAnOperationThatWasNotAssessedIsUnknownAndReconciling(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{}
	InitialStatus(u, statusTime)
	if c := meta.FindStatusCondition(u.Status.Conditions, refitv1alpha1.ConditionReady); c == nil || c.Status != metav1.ConditionUnknown {
		t.Errorf("Ready is %+v", c)
	}
	if !meta.IsStatusConditionTrue(u.Status.Conditions, refitv1alpha1.ConditionReconciling) {
		t.Error("it is not Reconciling")
	}
	UpdateStatus(u, assessed(plan.Stalled), statusTime)
	InitialStatus(u, statusTime)
	if u.Status.Phase != refitv1alpha1.PhaseStalled {
		t.Errorf("InitialStatus replaced the status of an assessed operation: %s", u.Status.Phase)
	}
}

func TestWaiting(t *testing.T) {
	blocked := plan.Wait{Reason: refitv1alpha1.ReasonDrainBlocked, Node: "worker-1", Message: "worker-1 cannot be drained", Remedy: "change the PDB", ManualIntervention: true, More: 3}
	t.Run("a wait keeps its time while it lasts", func(t *testing.T) {
		u := &refitv1alpha1.ClusterUpgrade{}
		UpdateStatus(u, assessed(plan.Stalled, waits(blocked)), statusTime)
		UpdateStatus(u, assessed(plan.Stalled, waits(blocked)), statusTime.Add(time.Hour))
		w := u.Status.Waiting
		if len(w) != 1 || !w[0].Since.Time.Equal(statusTime) || !w[0].ActionRequired || w[0].MoreNodes != 3 || w[0].Node != "worker-1" || w[0].Remedy != "change the PDB" {
			t.Errorf("waiting is %+v", w)
		}
	})
	t.Run("nodes in progress are not waited for", func(t *testing.T) {
		u := &refitv1alpha1.ClusterUpgrade{}
		UpdateStatus(u, assessed(plan.Running, waits(plan.Wait{Reason: refitv1alpha1.ReasonProgressing, Node: "worker-1", Message: "swap-kubelet"})), statusTime)
		if len(u.Status.Waiting) != 0 {
			t.Errorf("waiting is %+v", u.Status.Waiting)
		}
	})
	t.Run("an operation that ended waits for nothing", func(t *testing.T) {
		u := &refitv1alpha1.ClusterUpgrade{}
		UpdateStatus(u, assessed(plan.Aborted, waits(blocked)), statusTime)
		if len(u.Status.Waiting) != 0 {
			t.Errorf("waiting is %+v", u.Status.Waiting)
		}
	})
	t.Run("every text fits its CRD", func(t *testing.T) {
		u := &refitv1alpha1.ClusterUpgrade{}
		long := strings.Repeat("ü", 5000)
		many := make([]plan.Wait, 100)
		for i := range many {
			many[i] = plan.Wait{Reason: refitv1alpha1.ReasonBlocked, Message: long, Remedy: long, ManualIntervention: true}
		}
		UpdateStatus(u, assessed(plan.Stalled, waits(many...)), statusTime)
		if len(u.Status.Waiting) != refitv1alpha1.MaxWaiting {
			t.Errorf("%d waits", len(u.Status.Waiting))
		}
		w := u.Status.Waiting[0]
		if m, r := len([]rune(w.Message)), len([]rune(w.Remedy)); m > refitv1alpha1.MaxWaitingMessage || r > refitv1alpha1.MaxWaitingRemedy {
			t.Errorf("a message of %d and a remedy of %d characters", m, r)
		}
	})
}

func TestThePlanThatAnOperationFollowsKeepsItsHash(t *testing.T) {
	followed := &refitv1alpha1.PlanSummary{
		Hash: "sha256:old", From: "v1.35.0", Stages: []refitv1alpha1.StageSummary{{Name: refitv1alpha1.StagePrefetch, Total: 5}},
	}
	for situation, c := range map[string]struct {
		previous       *refitv1alpha1.PlanSummary
		approved       string
		changes        []func(*Assessment)
		hash, proposed string
	}{
		"the first plan":                            {nil, "", nil, "sha256:new", ""},
		"another plan before approval":              {followed, "", nil, "sha256:new", ""},
		"another plan after approval":               {followed, "sha256:old", nil, "sha256:old", "sha256:new"},
		"another plan was approved":                 {followed, "sha256:new", nil, "sha256:new", ""},
		"a hash that no plan has":                   {followed, "sha256:typo", nil, "sha256:new", ""},
		"another plan during an unapproved upgrade": {followed, "", []func(*Assessment){hasStarted}, "sha256:old", "sha256:new"},
		"a wrong hash during an upgrade":            {followed, "sha256:typo", []func(*Assessment){hasStarted}, "sha256:old", "sha256:new"},
	} {
		u := &refitv1alpha1.ClusterUpgrade{}
		u.Spec.ApprovedPlan, u.Status.Plan = c.approved, c.previous.DeepCopy()
		UpdateStatus(u, assessed(plan.Running, c.changes...), statusTime)
		if p := u.Status.Plan; p.Hash != c.hash || p.ProposedHash != c.proposed {
			t.Errorf("%s: hash %s, proposed %q; want %s and %q", situation, p.Hash, p.ProposedHash, c.hash, c.proposed)
		}
	}
}

func TestStagesKeepTheirTotalsOnceStarted(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{}
	u.Status.Plan = &refitv1alpha1.PlanSummary{
		Hash: "sha256:new", From: "v1.35.0", Stages: []refitv1alpha1.StageSummary{{Name: refitv1alpha1.StagePrefetch, Total: 5}},
	}
	counted := func(a *Assessment) { a.Decision.Stages = []plan.StageProgress{{Done: 7}} }
	UpdateStatus(u, assessed(plan.Running, hasStarted, counted), statusTime)
	if s := u.Status.Plan.Stages[0]; s.Total != 5 || s.Done != 5 || u.Status.Plan.From != "v1.35.0" {
		t.Errorf("%+v from %s", s, u.Status.Plan.From)
	}
}

func TestAnOperationThatEndsNamesTheNodesThatItLeavesBehind(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{}
	a := assessed(plan.Succeeded)
	a.Decision.LeftBehind = "1 node joined during the upgrade and could not be upgraded: worker-9"
	UpdateStatus(u, a, statusTime)
	ready := meta.FindStatusCondition(u.Status.Conditions, refitv1alpha1.ConditionReady)
	if !strings.HasSuffix(u.Status.Message, ". "+a.Decision.LeftBehind) || !strings.HasSuffix(ready.Message, "; "+a.Decision.LeftBehind) {
		t.Errorf("message %q, condition %q", u.Status.Message, ready.Message)
	}
}
