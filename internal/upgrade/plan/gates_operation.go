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
	return &Wait{state: Aborting, Reason: refitv1alpha1.ReasonAborting, Message: "Aborting: active nodes reach a safe state"}
}

// preflightBlocks holds an operation that has not started. From its start on, the gates of each
// step replace the checks, and there is no blocking finding.
func preflightBlocks(d *deciding, _ *cluster.Node, _ int) *Wait {
	if d.blocking == nil {
		return nil
	}
	return &Wait{
		state: Stalled, Reason: refitv1alpha1.ReasonBlocked, ManualIntervention: true,
		Message: d.blocking.Check + ": " + d.blocking.Message, Remedy: d.blocking.Remedy,
	}
}

func olderOperation(d *deciding, _ *cluster.Node, _ int) *Wait {
	if len(d.s.Others) == 0 {
		return nil
	}
	return &Wait{
		state: Queued, Reason: refitv1alpha1.ReasonOlderOperation,
		Message: fmt.Sprintf("Waiting for the older operation %s to end", d.s.Others[0]),
	}
}

func notApproved(d *deciding, _ *cluster.Node, _ int) *Wait {
	if d.op.Spec.Approval != refitv1alpha1.ApprovalRequired && d.op.Spec.Approval != "" || d.op.Spec.ApprovedPlan != "" {
		return nil
	}
	return &Wait{
		state: AwaitingApproval, Reason: refitv1alpha1.ReasonApprovalRequired, ManualIntervention: true, Message: "Waiting for approval of plan " + d.plan.Hash,
		Remedy: "Review the plan, then run `refit approve`",
	}
}

// planChanged compares the plan with the approved one or, if none needs approval, with the first
// one.
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
		Message: fmt.Sprintf("The plan has changed and is now %s", d.plan.Hash),
		Remedy:  fmt.Sprintf("Review the changed plan, then run `refit approve %s --plan %s`", d.op.Name, d.plan.Hash),
	}
}

func paused(d *deciding, _ *cluster.Node, _ int) *Wait {
	if !d.op.Spec.Paused {
		return nil
	}
	return &Wait{state: Paused, Reason: refitv1alpha1.ReasonPaused, Message: "Paused", ManualIntervention: true, Remedy: "Run `refit resume`"}
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
