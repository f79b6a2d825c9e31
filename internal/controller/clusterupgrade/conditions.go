package clusterupgrade

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// phases are the conditions in one word.
var phases = map[plan.State]refitv1alpha1.Phase{
	plan.Running: refitv1alpha1.PhaseRunning, plan.AwaitingApproval: refitv1alpha1.PhaseAwaitingApproval, plan.Queued: refitv1alpha1.PhaseWaiting,
	plan.Paused: refitv1alpha1.PhasePaused, plan.Stalled: refitv1alpha1.PhaseStalled, plan.Aborting: refitv1alpha1.PhaseAborting,
	plan.Succeeded: refitv1alpha1.PhaseSucceeded, plan.Aborted: refitv1alpha1.PhaseAborted,
}

// state is where the operation is once this decision is written down: the write that finishes it is its end.
func (o *observation) state() plan.State {
	for i := range o.Decision.Do {
		switch {
		case o.Decision.Do[i].Kind != plan.Finish:
		case o.operation.Spec.Aborted:
			return plan.Aborted
		default:
			return plan.Succeeded
		}
	}
	return o.Decision.State
}

// setConditions writes the conditions, which are the truth, and the phase, which follows from them.
func (o *observation) setConditions(now time.Time) {
	state := o.state()
	o.operation.Status.Phase = phases[state]
	reason, message := o.why(state)
	set := func(kind string, is bool, reason, message string) {
		status := metav1.ConditionFalse
		if is {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&o.operation.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: refitv1alpha1.Clip(message, maxMessage), ObservedGeneration: o.operation.Generation,
			LastTransitionTime: metav1.NewTime(now.UTC().Truncate(time.Second)),
		})
	}
	set(refitv1alpha1.ConditionReady, state == plan.Succeeded, reason, message)
	set(refitv1alpha1.ConditionReconciling, !state.Ended(), reason, message)
	set(refitv1alpha1.ConditionStalled, state == plan.Stalled, reason, message)
	set(refitv1alpha1.ConditionQueued, state == plan.Queued, reason, message)
	if o.Checks != nil {
		finding := o.Blocking()
		if finding == nil {
			set(refitv1alpha1.ConditionPreflight, true, refitv1alpha1.ReasonPassed, fmt.Sprintf("%d checks passed", o.Checks.Summary.Checks))
		} else {
			set(refitv1alpha1.ConditionPreflight, false, refitv1alpha1.ReasonBlocked, finding.Check+": "+finding.Message+" "+finding.Remedy)
		}
	}
	if o.Plan == nil {
		set(refitv1alpha1.ConditionPlanned, false, refitv1alpha1.ReasonBlocked, o.PlanError.Error())
		return
	}
	set(refitv1alpha1.ConditionPlanned, true, refitv1alpha1.ReasonPassed, "from "+o.Plan.From+" to "+o.Plan.To)
	switch {
	case state == plan.AwaitingApproval:
		set(refitv1alpha1.ConditionApproved, false, reason, message)
	case o.Checks == nil || o.Blocking() == nil:
		set(refitv1alpha1.ConditionApproved, true, refitv1alpha1.ReasonApproved, "nothing waits for approval")
	}
}

// why is the reason of the state, and the sentence with its remedy.
func (o *observation) why(state plan.State) (reason, message string) {
	switch state {
	case plan.Succeeded:
		return refitv1alpha1.ReasonSucceeded, "every node of the plan is at the target and proven"
	case plan.Aborted:
		return refitv1alpha1.ReasonAborted, "the operation was aborted"
	case plan.Paused:
		return refitv1alpha1.ReasonPaused, o.Decision.Doing
	case plan.Aborting:
		return refitv1alpha1.ReasonAborting, o.Decision.Doing
	case plan.Running, plan.AwaitingApproval, plan.Queued, plan.Stalled:
	}
	for _, w := range o.Decision.Waiting {
		if state == plan.Stalled && !w.Person {
			continue
		}
		message = w.Message
		if w.Remedy != "" {
			message += ". Remedy: " + w.Remedy
		}
		if state == plan.Running {
			return refitv1alpha1.ReasonProgressing, o.Decision.Doing
		}
		return w.Reason, message
	}
	return refitv1alpha1.ReasonProgressing, o.Decision.Doing
}
