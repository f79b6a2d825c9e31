package orders

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// UpdateRelease sets the status of a ClusterRelease to what the agents made of orders that name it.
// Orders for other releases are ignored.
func UpdateRelease(r *refitv1alpha1.ClusterRelease, orders []refitv1alpha1.NodeUpgrade, now time.Time) {
	s := &r.Status
	s.ObservedGeneration, s.VerifiedHosts, s.RejectedHosts, s.LastError = r.Generation, 0, 0, nil
	for i := range orders {
		if orders[i].Spec.Release.Name == r.Name {
			count(s, &orders[i])
		}
	}
	switch {
	case s.RejectedHosts > 0:
		message := fmt.Sprintf("%s: %s", s.LastError.Node, s.LastError.Message)
		setRelease(r, metav1.ConditionFalse, true, refitv1alpha1.ReasonRejected, message, now)
	case s.VerifiedHosts > 0:
		setRelease(r, metav1.ConditionTrue, false, refitv1alpha1.ReasonVerified, "hosts have verified the signature", now)
	default:
		setRelease(r, metav1.ConditionUnknown, false, refitv1alpha1.ReasonNotRead, "no host has read the release yet", now)
	}
}

// count adds the answer of one agent to its current order.
func count(s *refitv1alpha1.ClusterReleaseStatus, order *refitv1alpha1.NodeUpgrade) {
	accepted := meta.FindStatusCondition(order.Status.Conditions, refitv1alpha1.ConditionAccepted)
	switch {
	case accepted == nil || accepted.ObservedGeneration != order.Generation:
	case accepted.Status == metav1.ConditionTrue && verifies(order):
		s.VerifiedHosts++
	case accepted.Status == metav1.ConditionFalse && accepted.Reason == refitv1alpha1.ReasonReleaseRefused:
		s.RejectedHosts++
		if s.LastError == nil || s.LastError.Time.Before(&accepted.LastTransitionTime) {
			s.LastError = &refitv1alpha1.ClusterReleaseError{Node: order.Name, Message: accepted.Message, Time: accepted.LastTransitionTime}
		}
	}
}

// verifies reports whether the agent has verified the release of an order that it accepted.
func verifies(order *refitv1alpha1.NodeUpgrade) bool {
	switch order.Spec.Permit {
	case refitv1alpha1.PermitHold:
		return false
	case refitv1alpha1.PermitBackup: // what the agent has verified before stays so
		return order.Status.Phase != refitv1alpha1.NodeIdle
	case refitv1alpha1.PermitPrefetch, refitv1alpha1.PermitApply, refitv1alpha1.PermitRollback:
	}
	return true
}

func setRelease(r *refitv1alpha1.ClusterRelease, ready metav1.ConditionStatus, stalled bool, reason, message string, now time.Time) {
	stalledStatus := metav1.ConditionFalse
	if stalled {
		stalledStatus = metav1.ConditionTrue
	}
	for kind, status := range map[string]metav1.ConditionStatus{refitv1alpha1.ConditionReady: ready, refitv1alpha1.ConditionStalled: stalledStatus} {
		meta.SetStatusCondition(&r.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, ObservedGeneration: r.Generation,
			Message:            refitv1alpha1.Clip(message, refitv1alpha1.MaxMessage),
			LastTransitionTime: metav1.NewTime(now.UTC().Truncate(time.Second)),
		})
	}
}
