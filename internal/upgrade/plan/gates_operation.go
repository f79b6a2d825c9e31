package plan

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func aborted(v *view) *hold {
	if !v.op.Spec.Aborted {
		return nil
	}
	return &hold{Aborting, Wait{Reason: refitv1alpha1.ReasonAborting, Message: "Aborting: nodes at work are brought to a safe state"}}
}

func olderOperation(v *view) *hold {
	if len(v.s.Others) == 0 {
		return nil
	}
	return &hold{Queued, Wait{
		Reason: refitv1alpha1.ReasonOlderOperation, Message: fmt.Sprintf("Waiting for the operation %s, which is older and has not ended", v.s.Others[0]),
	}}
}

func notApproved(v *view) *hold {
	if v.op.Spec.Approval != refitv1alpha1.ApprovalRequired && v.op.Spec.Approval != "" || v.op.Spec.ApprovedPlan != "" {
		return nil
	}
	return &hold{AwaitingApproval, Wait{
		Reason: refitv1alpha1.ReasonApprovalRequired, Person: true, Message: "Waiting for approval of the plan " + v.plan.Hash,
		Remedy: "read the plan, then set spec.approvedPlan to its hash (refit approve)",
	}}
}

// planChanged compares with what was approved, and where no approval is asked for with what was planned at the start.
func planChanged(v *view) *hold {
	approved := v.op.Spec.ApprovedPlan
	if approved == "" && v.op.Plan != nil {
		approved = v.op.Plan.Hash
	}
	if approved == "" || approved == v.plan.Hash {
		return nil
	}
	return &hold{AwaitingApproval, Wait{
		Reason: refitv1alpha1.ReasonPlanChanged, Person: true,
		Message: fmt.Sprintf("The plan is no longer the one that was approved: it is %s now", v.plan.Hash),
		Remedy:  "compare it with what was approved, then set spec.approvedPlan to the new hash (refit approve)",
	}}
}

func paused(v *view) *hold {
	if !v.op.Spec.Paused {
		return nil
	}
	return &hold{Paused, Wait{Reason: refitv1alpha1.ReasonPaused, Message: "Paused", Person: true, Remedy: "set spec.paused to false (refit resume)"}}
}

func nodeFailed(v *view) *hold {
	for _, nodes := range [][]*cluster.Node{v.controlPlane, v.workers} {
		for _, n := range nodes {
			if v.failed(n) {
				return &hold{Stalled, v.failedWait(n)}
			}
		}
	}
	return nil
}
