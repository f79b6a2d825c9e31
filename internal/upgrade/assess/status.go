package assess

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// InitialStatus sets the conditions of an operation that was not assessed yet. Without conditions,
// kstatus would report it as Current.
func InitialStatus(u *refitv1alpha1.ClusterUpgrade, now time.Time) {
	if len(u.Status.Conditions) > 0 {
		return
	}
	u.Status.ObservedGeneration, u.Status.Phase = u.Generation, refitv1alpha1.PhasePlanning
	c := conditions{u: u, now: now}
	c.set(refitv1alpha1.ConditionReady, metav1.ConditionUnknown, refitv1alpha1.ReasonProgressing, "the operation was not assessed yet")
	c.set(refitv1alpha1.ConditionReconciling, metav1.ConditionTrue, refitv1alpha1.ReasonProgressing, "the operation was not assessed yet")
}

// UpdateStatus sets the status of an operation from an assessment.
func UpdateStatus(u *refitv1alpha1.ClusterUpgrade, a *Assessment, now time.Time) {
	previous := u.Status.DeepCopy()
	s := &u.Status
	s.ObservedGeneration = u.Generation
	s.Active = activeAfter(s.Active, a.Decision.Actions)
	s.Nodes, s.Failures = a.Decision.Progress, a.Decision.Failures
	if a.Plan != nil {
		s.Plan = planOf(u, a, previous.Plan)
	}
	state := stateAfter(u, a)
	s.Phase = phases[state]
	if a.Plan != nil {
		stampStages(s.Plan.Stages, a.Decision.Stages, previous.Plan, state, now)
	}
	s.Message = refitv1alpha1.Clip(messageOf(state, a), refitv1alpha1.MaxStatusMessage)
	s.Waiting = waitingOf(state, a.Decision.Waiting, previous.Waiting, now)
	setConditions(u, a, state, now)
}

// stateAfter is the state of the operation once the decision is written: writing Finish ends it.
func stateAfter(u *refitv1alpha1.ClusterUpgrade, a *Assessment) plan.State {
	finishes := slices.ContainsFunc(a.Decision.Actions, func(action plan.Action) bool { return action.Kind == plan.Finish })
	switch {
	case finishes && u.Spec.Aborted:
		return plan.Aborted
	case finishes:
		return plan.Succeeded
	}
	return a.Decision.State
}

// activeAfter returns the active nodes after a decision.
func activeAfter(active []string, do []plan.Action) []string {
	active = slices.Clone(active)
	for i := range do {
		a := &do[i]
		if a.Kind == plan.ReleaseNode {
			active = slices.DeleteFunc(active, func(name string) bool { return name == a.Node })
		}
		if a.Kind == plan.Claim && !slices.Contains(active, a.Node) && len(active) < refitv1alpha1.MaxActive {
			active = append(active, a.Node)
		}
	}
	return active
}

var phases = map[plan.State]refitv1alpha1.Phase{
	plan.Running:          refitv1alpha1.PhaseRunning,
	plan.AwaitingApproval: refitv1alpha1.PhaseAwaitingApproval,
	plan.Queued:           refitv1alpha1.PhaseWaiting,
	plan.Paused:           refitv1alpha1.PhasePaused,
	plan.Stalled:          refitv1alpha1.PhaseStalled,
	plan.Aborting:         refitv1alpha1.PhaseAborting,
	plan.Succeeded:        refitv1alpha1.PhaseSucceeded,
	plan.Aborted:          refitv1alpha1.PhaseAborted,
}

// messageOf is the message of the status. The last write of an operation reports how it ended.
func messageOf(state plan.State, a *Assessment) string {
	switch state {
	case plan.Succeeded:
		return strings.TrimSuffix("The cluster is at "+a.Plan.To+". "+a.Decision.LeftBehind, ". ")
	case plan.Aborted:
		return "The operation was aborted"
	case plan.Running, plan.AwaitingApproval, plan.Queued, plan.Paused, plan.Stalled, plan.Aborting:
	}
	return a.Decision.Message
}
