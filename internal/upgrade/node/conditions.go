package node

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Observed is what the conditions of a NodeUpgrade are derived from.
type Observed struct {
	Status     *refitv1alpha1.NodeUpgradeStatus
	Generation int64
	Refusal    *Refusal // of the newest order, nil if it was accepted
	Waiting    string   // what the current step waits for, empty if it waits for nothing
	// Unpermitted means that it waits for permission to change the host.
	Unpermitted bool
}

// Conditions updates the conditions of a NodeUpgrade and returns them. Accepted and Ready are
// always present. kstatus reads Reconciling before Stalled before Ready.
func Conditions(conditions []metav1.Condition, o Observed, now time.Time) []metav1.Condition {
	set := func(kind string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason[:min(len(reason), refitv1alpha1.MaxNodeConditionReason)], // an ellipsis is refused
			Message:            refitv1alpha1.Clip(message, refitv1alpha1.MaxNodeConditionMessage),
			ObservedGeneration: o.Generation, LastTransitionTime: metav1.NewTime(now.UTC().Truncate(time.Second)),
		})
	}
	if o.Refusal == nil {
		set(refitv1alpha1.ConditionAccepted, metav1.ConditionTrue, refitv1alpha1.ReasonAccepted, "the agent has accepted the order")
	} else {
		set(refitv1alpha1.ConditionAccepted, metav1.ConditionFalse, o.Refusal.Reason, o.Refusal.Message)
	}
	s := o.summary()
	set(refitv1alpha1.ConditionReady, is(s.ready), s.reason, s.message)
	set(refitv1alpha1.ConditionReconciling, is(s.reconciling), s.reason, s.message)
	set(refitv1alpha1.ConditionStalled, is(s.stalled), s.reason, s.message)
	switch {
	case o.Waiting == "":
		meta.RemoveStatusCondition(&conditions, refitv1alpha1.ConditionWaiting)
	case o.Unpermitted:
		set(refitv1alpha1.ConditionWaiting, metav1.ConditionTrue, refitv1alpha1.ReasonPermissionWaiting, o.Waiting)
	default:
		set(refitv1alpha1.ConditionWaiting, metav1.ConditionTrue, refitv1alpha1.ReasonStepWaiting, o.Waiting)
	}
	return conditions
}

// summary is the state of an order as kstatus knows it.
type summary struct {
	ready, reconciling, stalled bool
	reason, message             string
}

func (o Observed) summary() summary {
	phase := o.Status.Phase
	switch {
	case o.Refusal != nil:
		return summary{stalled: true, reason: o.Refusal.Reason, message: o.Refusal.Message}
	case phase == refitv1alpha1.NodeSucceeded:
		return summary{ready: true, reason: string(phase), message: "the host is healthy at the release"}
	case phase == refitv1alpha1.NodeFailed && o.Status.Error != nil:
		return summary{stalled: true, reason: o.Status.Error.Reason, message: o.Status.Error.Message}
	case phase == refitv1alpha1.NodeFailed:
		return summary{stalled: true, reason: string(phase), message: "the host is not at the release"}
	case phase == refitv1alpha1.NodeRolledBack:
		return summary{stalled: true, reason: string(phase), message: "the host was rolled back and is healthy at its former version"}
	case phase == refitv1alpha1.NodePrefetched:
		return summary{reason: string(phase), message: "files and images are on the host"}
	case phase == refitv1alpha1.NodePrefetching, phase == refitv1alpha1.NodeApplying, phase == refitv1alpha1.NodeRollingBack:
		return summary{reconciling: true, reason: string(phase), message: o.Status.Step}
	}
	return summary{reason: string(refitv1alpha1.NodeIdle), message: "the order permits no change"}
}

func is(condition bool) metav1.ConditionStatus {
	if condition {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}
