package clusterupgrade

import (
	"context"
	"reflect"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// writeStatus writes the operation's status, if it is another one than before: claims, the plan, how far it is, and what is being done or waited for. The update names
// the version that was read, so that it fails where another leader has written meanwhile. The status of an operation that has ended is history: what becomes of
// its nodes later is no longer its doing.
func (r *Reconciler) writeStatus(ctx context.Context, obs *observation) error {
	operation := obs.operation
	if operation.HasEnded() {
		return nil
	}
	was := operation.Status.DeepCopy()
	status := &operation.Status
	status.ObservedGeneration = operation.Generation
	status.Active = activeAfter(status.Active, obs.Decision.Do)
	status.Nodes, status.Failures = obs.Decision.Progress, obs.Decision.Failures
	if obs.Plan != nil {
		status.Plan = obs.summary(status.Plan)
	}
	status.Doing = refitv1alpha1.Clip(obs.doing(), maxMessage)
	if status.Doing != was.Doing {
		status.DoingSince = r.stamp()
	}
	obs.setConditions(r.Now())
	if reflect.DeepEqual(*was, *status) {
		return nil
	}
	events := eventsFor(was, status, obs)
	if err := r.Client.Status().Update(ctx, operation); err != nil {
		return err
	}
	for _, e := range events {
		r.recordEvent(obs, e)
	}
	return nil
}

// doing is the sentence for people. The write that ends an operation is its last: it says how it ended, not what is being done.
func (o *observation) doing() string {
	switch o.state() {
	case plan.Succeeded:
		return "Done: the cluster is at " + o.Plan.To
	case plan.Aborted:
		return "Aborted"
	case plan.Running, plan.AwaitingApproval, plan.Queued, plan.Paused, plan.Stalled, plan.Aborting:
	}
	return o.Decision.Doing
}

// maxMessage is how long the sentence may be.
const maxMessage = 768

// activeAfter is the list of nodes at work after a decision.
func activeAfter(active []string, do []plan.Action) []string {
	active = slices.Clone(active)
	for i := range do {
		a := &do[i]
		if a.Kind == plan.Free {
			active = slices.DeleteFunc(active, func(name string) bool { return name == a.Node })
		}
		if a.Kind == plan.Claim && !slices.Contains(active, a.Node) && len(active) < refitv1alpha1.MaxActive {
			active = append(active, a.Node)
		}
	}
	return active
}

// summary is the plan in numbers. What was estimated when the plan was made stays. So does the hash of a plan that is followed and that nobody approved: a
// changed one is seen by it. Where one was approved, the hash is that of the plan to approve now.
func (o *observation) summary(was *refitv1alpha1.PlanSummary) *refitv1alpha1.PlanSummary {
	now := o.Plan.Summary()
	if was != nil && o.Started {
		now.Estimate, now.From, now.WorkersFrom = was.Estimate, was.From, was.WorkersFrom
		if was.Hash == o.Plan.Hash {
			now.Stages = was.Stages // an outline counts no nodes
		}
		if o.operation.Spec.ApprovedPlan == "" {
			now.Hash = was.Hash
		}
	}
	return now
}
