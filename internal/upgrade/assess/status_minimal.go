package assess

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// MinimalStatus sets the status of an operation whose full status the API refused as invalid: what
// was stored, and that the operation is stalled. No node is claimed; nodes are released and an
// operation ends, so that an abort works.
func MinimalStatus(u *refitv1alpha1.ClusterUpgrade, stored *refitv1alpha1.ClusterUpgradeStatus, a *Assessment, refused error, now time.Time) {
	u.Status = *stored.DeepCopy()
	s := &u.Status
	s.ObservedGeneration = u.Generation
	s.Active = activeAfter(s.Active, releases(a.Decision.Actions))
	state := stateAfter(u, a)
	if !state.Ended() {
		state = plan.Stalled
	}
	message := "The API refused the status of this operation: " + refused.Error()
	w := plan.Wait{
		Reason: refitv1alpha1.ReasonStatusRefused, ManualIntervention: true, Message: message,
		Remedy: "Check that the CRDs and the admission policies are those of the controller: `refit install`. `refit abort` ends the operation",
	}
	s.Phase, s.Message, s.Failures = phases[state], refitv1alpha1.Clip(message, refitv1alpha1.MaxStatusMessage), nil
	s.Waiting = waitingOf(state, []plan.Wait{w}, stored.Waiting, now)
	minimal := &Assessment{Decision: plan.Decision{State: state, Message: message, Waiting: []plan.Wait{w}}}
	c := conditions{u: u, now: now}
	reason, text := why(state, minimal)
	c.markEnd(state)
	c.set(refitv1alpha1.ConditionReady, is(state == plan.Succeeded), reason, text)
	c.set(refitv1alpha1.ConditionReconciling, metav1.ConditionFalse, reason, text)
	c.set(refitv1alpha1.ConditionStalled, is(state != plan.Succeeded), reason, text)
}

// releases are the actions that end claims.
func releases(actions []plan.Action) []plan.Action {
	return slices.DeleteFunc(slices.Clone(actions), func(a plan.Action) bool { return a.Kind != plan.ReleaseNode })
}
