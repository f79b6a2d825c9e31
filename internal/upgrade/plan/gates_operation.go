package plan

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func aborted(d *deciding, _ *cluster.Node, _ int) *Wait {
	if !d.op.Spec.Aborted {
		return nil
	}
	return &Wait{state: Aborting, Reason: refitv1alpha1.ReasonAborting, Message: "Aborting: nodes at work are brought to a safe state"}
}

func olderOperation(d *deciding, _ *cluster.Node, _ int) *Wait {
	if len(d.s.Others) == 0 {
		return nil
	}
	return &Wait{
		state: Queued, Reason: refitv1alpha1.ReasonOlderOperation,
		Message: fmt.Sprintf("Waiting for the operation %s, which is older and has not ended", d.s.Others[0]),
	}
}

func notApproved(d *deciding, _ *cluster.Node, _ int) *Wait {
	if d.op.Spec.Approval != refitv1alpha1.ApprovalRequired && d.op.Spec.Approval != "" || d.op.Spec.ApprovedPlan != "" {
		return nil
	}
	return &Wait{
		state: AwaitingApproval, Reason: refitv1alpha1.ReasonApprovalRequired, ManualIntervention: true, Message: "Waiting for approval of the plan " + d.plan.Hash,
		Remedy: "read the plan, then set spec.approvedPlan to its hash (refit approve)",
	}
}

// planChanged compares with what was approved, and where no approval is asked for with what was planned at the start.
func planChanged(d *deciding, _ *cluster.Node, _ int) *Wait {
	approved := d.op.Spec.ApprovedPlan
	if approved == "" && d.op.Plan != nil {
		approved = d.op.Plan.Hash
	}
	if approved == "" || approved == d.plan.Hash {
		return nil
	}
	return &Wait{
		state: AwaitingApproval, Reason: refitv1alpha1.ReasonPlanChanged, ManualIntervention: true,
		Message: fmt.Sprintf("The plan is no longer the one that was approved: it is %s now", d.plan.Hash),
		Remedy:  "compare it with what was approved, then set spec.approvedPlan to the new hash (refit approve)",
	}
}

func paused(d *deciding, _ *cluster.Node, _ int) *Wait {
	if !d.op.Spec.Paused {
		return nil
	}
	return &Wait{state: Paused, Reason: refitv1alpha1.ReasonPaused, Message: "Paused", ManualIntervention: true, Remedy: "set spec.paused to false (refit resume)"}
}

func nodeFailed(d *deciding, _ *cluster.Node, _ int) *Wait {
	for _, nodes := range [][]*cluster.Node{d.controlPlane, d.workers} {
		for _, n := range nodes {
			if d.failed(n) {
				w := d.failedWait(n)
				w.state = Stalled
				return &w
			}
		}
	}
	return nil
}
