package componentplan

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// Refusal is the refusal of the latest order, nil if there is none.
func Refusal(order *cluster.ComponentUpgrade) *metav1.Condition {
	accepted := meta.FindStatusCondition(order.Status.Conditions, refitv1alpha1.ConditionAccepted)
	if accepted == nil || accepted.Status != metav1.ConditionFalse || accepted.ObservedGeneration != order.Generation {
		return nil
	}
	return accepted
}

// Refused reports whether the latest order was refused.
func Refused(order *cluster.ComponentUpgrade) bool { return Refusal(order) != nil }

// Answered reports whether the status is that of the latest order.
func Answered(order *cluster.ComponentUpgrade) bool {
	return order.Status.ObservedSequence == order.Spec.Sequence
}

// Changing reports whether refit-components may be changing the component: it has an order to do
// so and has not ended it, or a step is open or a freeze in force whatever its order.
func Changing(order *cluster.ComponentUpgrade) bool {
	phase, held := order.Status.Phase, order.Spec.Permit == refitv1alpha1.PermitHold
	switch {
	case phase == refitv1alpha1.ComponentApplying && held && Answered(order):
		return order.Status.Frozen != nil || openStep(order)
	case phase == refitv1alpha1.ComponentApplying, phase == refitv1alpha1.ComponentRollingBack:
		return true
	case held, Refused(order):
		return false
	}
	return !Answered(order) || phase == refitv1alpha1.ComponentIdle || phase == ""
}

func openStep(order *cluster.ComponentUpgrade) bool {
	return slices.ContainsFunc(order.Status.Steps, func(s refitv1alpha1.StepStatus) bool { return s.State == refitv1alpha1.StepRunning })
}

// Void reports whether an order has changed nothing, or nothing any more, and is to be planned and
// given again. One that failed is given again when it is retried: what it would change may be
// another by then, as after the failure PlanChanged.
func Void(order *cluster.ComponentUpgrade, retry int64) bool {
	if Changing(order) {
		return false
	}
	nothing := component.Replaceable(order.Status)
	switch phase := order.Status.Phase; {
	case phase == refitv1alpha1.ComponentApplying:
		return nothing
	case phase == refitv1alpha1.ComponentFailed && !nothing:
		return false
	case Refused(order), phase == refitv1alpha1.ComponentRolledBack, phase == refitv1alpha1.ComponentFailed:
		return order.Spec.Attempt < retry
	case phase == refitv1alpha1.ComponentSucceeded:
		return false
	}
	return order.Spec.Permit == refitv1alpha1.PermitHold
}

// Continues reports whether another order for the same step continues what an order has started.
func Continues(order *cluster.ComponentUpgrade, retry int64) bool {
	phase := order.Status.Phase
	return (phase == refitv1alpha1.ComponentApplying || phase == refitv1alpha1.ComponentFailed) && len(order.Status.Steps) > 0 && !Void(order, retry)
}
