package assess

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// setConditions sets the conditions. kstatus reads Reconciling before Stalled before Ready: an
// operation that is stalled or was aborted is Failed only if it is not Reconciling.
func setConditions(u *refitv1alpha1.ClusterUpgrade, a *Assessment, state plan.State, now time.Time) {
	c := conditions{u: u, now: now}
	reason, message := why(state, a)
	stalled := state == plan.Stalled || state == plan.Aborted
	c.markEnd(state)
	c.set(refitv1alpha1.ConditionReady, is(state == plan.Succeeded), reason, message)
	c.set(refitv1alpha1.ConditionReconciling, is(!state.Ended() && !stalled), reason, message)
	c.set(refitv1alpha1.ConditionStalled, is(stalled), reason, message)
	c.set(refitv1alpha1.ConditionQueued, is(state == plan.Queued), reason, message)
	c.setPreflight(a)
	c.setPlanned(a)
	c.setApproved(a, state, reason, message)
}

// conditions sets the conditions of one operation.
type conditions struct {
	u   *refitv1alpha1.ClusterUpgrade
	now time.Time
}

// markEnd lets Reconciling change when the operation ends, also if it was False during a stall: its
// time is that of the end.
func (c conditions) markEnd(state plan.State) {
	reconciling := meta.FindStatusCondition(c.u.Status.Conditions, refitv1alpha1.ConditionReconciling)
	if reconciling != nil && state.Ended() && !c.u.HasEnded() {
		reconciling.Status = metav1.ConditionUnknown
	}
}

func (c conditions) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&c.u.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, ObservedGeneration: c.u.Generation,
		Message:            refitv1alpha1.Clip(message, refitv1alpha1.MaxConditionMessage),
		LastTransitionTime: metav1.NewTime(c.now.UTC().Truncate(time.Second)),
	})
}

func (c conditions) setPreflight(a *Assessment) {
	if a.Checks == nil {
		return
	}
	finding := a.Blocking()
	if finding == nil {
		c.set(refitv1alpha1.ConditionPreflight, metav1.ConditionTrue, refitv1alpha1.ReasonPassed,
			fmt.Sprintf("%d checks passed", a.Checks.Summary.Checks))
		return
	}
	c.set(refitv1alpha1.ConditionPreflight, metav1.ConditionFalse, refitv1alpha1.ReasonBlocked,
		finding.Check+": "+finding.Message+" "+finding.Remedy)
}

func (c conditions) setPlanned(a *Assessment) {
	if a.Plan == nil {
		c.set(refitv1alpha1.ConditionPlanned, metav1.ConditionFalse, refitv1alpha1.ReasonBlocked, a.PlanError.Error())
		return
	}
	c.set(refitv1alpha1.ConditionPlanned, metav1.ConditionTrue, refitv1alpha1.ReasonPassed, "from "+a.Plan.From+" to "+a.Plan.To)
}

// setApproved sets Approved from when on the operation may start: workers that join later count as
// late. An operation that is queued, or stalled before its approval, may not.
func (c conditions) setApproved(a *Assessment, state plan.State, reason, message string) {
	switch {
	case a.Plan == nil, state == plan.Queued:
	case state == plan.AwaitingApproval:
		c.set(refitv1alpha1.ConditionApproved, metav1.ConditionFalse, reason, message)
	case a.Blocking() == nil && (c.u.Spec.Approval == refitv1alpha1.ApprovalNone || c.u.Spec.ApprovedPlan != ""):
		c.set(refitv1alpha1.ConditionApproved, metav1.ConditionTrue, refitv1alpha1.ReasonApproved, "no approval is pending")
	}
}

// why is the reason of the state, and its message with the remedy.
func why(state plan.State, a *Assessment) (reason, message string) {
	switch state {
	case plan.Succeeded:
		const all = "every node of the plan is healthy at the target"
		return refitv1alpha1.ReasonSucceeded, strings.TrimSuffix(all+"; "+a.Decision.LeftBehind, "; ")
	case plan.Aborted:
		return refitv1alpha1.ReasonAborted, "the operation was aborted"
	case plan.Paused:
		return refitv1alpha1.ReasonPaused, a.Decision.Message
	case plan.Aborting:
		return refitv1alpha1.ReasonAborting, a.Decision.Message
	case plan.Running:
		return refitv1alpha1.ReasonProgressing, a.Decision.Message
	case plan.AwaitingApproval, plan.Queued, plan.Stalled:
	}
	for i := range a.Decision.Waiting {
		w := &a.Decision.Waiting[i]
		if state == plan.Stalled && !w.ManualIntervention {
			continue
		}
		if w.Remedy == "" {
			return w.Reason, w.Message
		}
		return w.Reason, w.Message + ". Remedy: " + w.Remedy
	}
	return refitv1alpha1.ReasonProgressing, a.Decision.Message
}

func is(condition bool) metav1.ConditionStatus {
	if condition {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}
