package orders

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// SetPending sets the conditions of a NodeUpgrade that no agent has observed yet, and reports
// whether that changed anything. Without conditions, kstatus would report it as Current.
func SetPending(u *refitv1alpha1.NodeUpgrade, now time.Time) bool {
	if len(u.Status.Conditions) > 0 {
		return false
	}
	for _, kind := range []string{refitv1alpha1.ConditionAccepted, refitv1alpha1.ConditionReady} {
		meta.SetStatusCondition(&u.Status.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionUnknown, Reason: refitv1alpha1.ReasonPending, Message: "the agent has not observed the order yet",
			ObservedGeneration: u.Generation, LastTransitionTime: metav1.NewTime(now.UTC().Truncate(time.Second)),
		})
	}
	return true
}
