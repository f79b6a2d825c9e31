package component

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Conditions updates the conditions of a ComponentUpgrade. Accepted and Ready are always present.
// kstatus reads Reconciling before Stalled before Ready.
func Conditions(status *refitv1alpha1.ComponentUpgradeStatus, generation int64, refusal *Refusal, now time.Time) {
	set := func(kind string, is bool, reason, message string) {
		value := metav1.ConditionFalse
		if is {
			value = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: kind, Status: value, Reason: reason[:min(len(reason), refitv1alpha1.MaxNodeConditionReason)],
			Message: refitv1alpha1.Clip(message, maxConditionMessage), ObservedGeneration: generation,
			LastTransitionTime: metav1.NewTime(now.UTC().Truncate(time.Second)),
		})
	}
	if refusal == nil {
		set(refitv1alpha1.ConditionAccepted, true, refitv1alpha1.ReasonAccepted, "refit-components has accepted the order")
	} else {
		set(refitv1alpha1.ConditionAccepted, false, refusal.Reason, refusal.Message)
	}
	s := summaryOf(status, refusal)
	set(refitv1alpha1.ConditionReady, s.ready, s.reason, s.message)
	set(refitv1alpha1.ConditionReconciling, s.reconciling, s.reason, s.message)
	set(refitv1alpha1.ConditionStalled, s.stalled, s.reason, s.message)
	status.ObservedGeneration = generation
}

// maxConditionMessage is the limit of the CRD.
const maxConditionMessage = 256

// summary is the state of an order as kstatus knows it.
type summary struct {
	ready, reconciling, stalled bool
	reason, message             string
}

func summaryOf(status *refitv1alpha1.ComponentUpgradeStatus, refusal *Refusal) summary {
	phase := status.Phase
	switch {
	case refusal != nil:
		return summary{stalled: true, reason: refusal.Reason, message: refusal.Message}
	case phase == refitv1alpha1.ComponentSucceeded:
		return summary{ready: true, reason: string(phase), message: "the component is verified"}
	case phase == refitv1alpha1.ComponentFailed && status.Error != nil:
		return summary{stalled: true, reason: status.Error.Reason, message: status.Error.Message}
	case phase == refitv1alpha1.ComponentFailed:
		return summary{stalled: true, reason: string(phase), message: "the component was not changed as ordered"}
	case phase == refitv1alpha1.ComponentRolledBack:
		return summary{stalled: true, reason: string(phase), message: "the component was rolled back and is verified at its former version"}
	case phase == refitv1alpha1.ComponentApplying, phase == refitv1alpha1.ComponentRollingBack:
		message := status.Step
		if status.Waiting != "" {
			message += ": " + status.Waiting
		}
		return summary{reconciling: true, reason: string(phase), message: message}
	}
	return summary{reason: string(refitv1alpha1.ComponentIdle), message: "the order permits no change"}
}
