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
func (s *sight) state() plan.State {
	for i := range s.decision.Do {
		switch {
		case s.decision.Do[i].Kind != plan.Finish:
		case s.operation.Spec.Aborted:
			return plan.Aborted
		default:
			return plan.Succeeded
		}
	}
	return s.decision.State
}

// setConditions writes the conditions, which are the truth, and the phase, which follows from them.
func (s *sight) setConditions(now time.Time) {
	state := s.state()
	s.operation.Status.Phase = phases[state]
	reason, message := s.why(state)
	set := func(kind string, is bool, reason, message string) {
		status := metav1.ConditionFalse
		if is {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&s.operation.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: refitv1alpha1.Clip(message, maxDoing), ObservedGeneration: s.operation.Generation,
			LastTransitionTime: metav1.NewTime(now.UTC().Truncate(time.Second)),
		})
	}
	set(refitv1alpha1.ConditionReady, state == plan.Succeeded, reason, message)
	set(refitv1alpha1.ConditionReconciling, !state.Ended(), reason, message)
	set(refitv1alpha1.ConditionStalled, state == plan.Stalled, reason, message)
	set(refitv1alpha1.ConditionQueued, state == plan.Queued, reason, message)
	if s.checks != nil {
		finding := s.blocking()
		if finding == nil {
			set(refitv1alpha1.ConditionPreflight, true, refitv1alpha1.ReasonPassed, fmt.Sprintf("%d checks passed", s.checks.Summary.Checks))
		} else {
			set(refitv1alpha1.ConditionPreflight, false, refitv1alpha1.ReasonBlocked, finding.Check+": "+finding.Message+" "+finding.Remedy)
		}
	}
	if s.plan == nil {
		set(refitv1alpha1.ConditionPlanned, false, refitv1alpha1.ReasonBlocked, s.unmade.Error())
		return
	}
	set(refitv1alpha1.ConditionPlanned, true, refitv1alpha1.ReasonPassed, "from "+s.plan.From+" to "+s.plan.To)
	switch {
	case state == plan.AwaitingApproval:
		set(refitv1alpha1.ConditionApproved, false, reason, message)
	case s.checks == nil || s.blocking() == nil:
		set(refitv1alpha1.ConditionApproved, true, refitv1alpha1.ReasonApproved, "nothing waits for approval")
	}
}

// why is the reason of the state, and the sentence with its remedy.
func (s *sight) why(state plan.State) (reason, message string) {
	switch state {
	case plan.Succeeded:
		return refitv1alpha1.ReasonSucceeded, "every node of the plan is at the target and proven"
	case plan.Aborted:
		return refitv1alpha1.ReasonAborted, "the operation was aborted"
	case plan.Paused:
		return refitv1alpha1.ReasonPaused, s.decision.Doing
	case plan.Aborting:
		return refitv1alpha1.ReasonAborting, s.decision.Doing
	case plan.Running, plan.AwaitingApproval, plan.Queued, plan.Stalled:
	}
	for _, w := range s.decision.Waiting {
		if state == plan.Stalled && !w.Person {
			continue
		}
		message = w.Message
		if w.Remedy != "" {
			message += ". Remedy: " + w.Remedy
		}
		if state == plan.Running {
			return refitv1alpha1.ReasonProgressing, s.decision.Doing
		}
		return w.Reason, message
	}
	return refitv1alpha1.ReasonProgressing, s.decision.Doing
}
