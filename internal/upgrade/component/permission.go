package component

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Permission returns why an order may not start, or nil. The controller can forge an order, but not
// the spec of the ClusterUpgrade, which users write. A transient failure ends when users or the
// controller change the ClusterUpgrade; nil stands for one that does not exist.
func Permission(operation refitv1alpha1.Operation, live *refitv1alpha1.ClusterUpgrade) *Failure {
	fail := func(class refitv1alpha1.FailureClass, reason, remedy, format string) *Failure {
		return &Failure{Class: class, Reason: reason, Message: fmt.Sprintf(format, operation.Name), Remedy: remedy}
	}
	switch {
	case live == nil || live.UID != operation.UID:
		return fail(refitv1alpha1.FailureTransient, "OperationMissing", "Create another ClusterUpgrade",
			"the ClusterUpgrade %s of the order does not exist any more")
	case live.Spec.Aborted || live.DeletionTimestamp != nil:
		return fail(refitv1alpha1.FailureManualIntervention, "OperationAborted", "Nothing to do: the component is unchanged", "ClusterUpgrade %s is aborted")
	case live.HasEnded():
		return fail(refitv1alpha1.FailureTransient, "OperationEnded", "Create another ClusterUpgrade", "ClusterUpgrade %s has ended")
	case live.Spec.Paused:
		return fail(refitv1alpha1.FailureTransient, "OperationPaused", "Run `refit resume`", "ClusterUpgrade %s is paused")
	case live.Spec.Approval == refitv1alpha1.ApprovalNone || live.Status.Plan != nil && live.Spec.ApprovedPlan == live.Status.Plan.Hash:
		return nil
	}
	return fail(refitv1alpha1.FailureTransient, "OperationNotApproved", "Review the plan, then run `refit approve`",
		"the plan of ClusterUpgrade %s is not approved")
}
