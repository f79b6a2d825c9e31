package clusterupgrade

import (
	"context"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// tell writes the operation's status, if it is another one than before: claims, the plan, how far it is, and what is being done or waited for. The update names
// the version that was read, so that it fails where another leader has written meanwhile.
func (c *Controller) tell(ctx context.Context, seen *sight) error {
	operation := seen.operation
	was := operation.Status.DeepCopy()
	status := &operation.Status
	status.ObservedGeneration = operation.Generation
	status.Active = activeAfter(status.Active, seen.decision.Do)
	status.Nodes, status.Failures = seen.decision.Progress, seen.decision.Failures
	if seen.plan != nil {
		status.Plan = seen.summary(status.Plan)
	}
	status.Doing = refitv1alpha1.Clip(seen.decision.Doing, maxDoing)
	if status.Doing != was.Doing {
		status.DoingSince = c.stamp()
	}
	seen.setConditions(c.Now())
	if reflect.DeepEqual(*was, *status) {
		return nil
	}
	if err := c.Live.Status().Update(ctx, operation); err != nil {
		return err
	}
	c.noteChange(seen, was)
	return nil
}

// maxDoing is how long the sentence may be.
const maxDoing = 768

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

// summary is the plan in numbers. What was estimated when the plan was made stays; so does the hash of a plan that is followed: a changed one is seen by it.
func (s *sight) summary(was *refitv1alpha1.PlanSummary) *refitv1alpha1.PlanSummary {
	now := s.plan.Summary()
	if was != nil && s.begun() {
		now.Hash, now.Estimate, now.From, now.WorkersFrom = was.Hash, was.Estimate, was.From, was.WorkersFrom
		if s.operation.Spec.ApprovedPlan == s.plan.Hash {
			now.Hash = s.plan.Hash
		}
	}
	return now
}

// note is an Event about a node of an operation.
func (c *Controller) note(seen *sight, about runtime.Object, reason, message string) {
	c.Events.Eventf(seen.operation, about, corev1.EventTypeNormal, reason, reason, "%s", message)
}

// noteChange tells the story in Events: a phase that was reached, and claims.
func (c *Controller) noteChange(seen *sight, was *refitv1alpha1.ClusterUpgradeStatus) {
	status := &seen.operation.Status
	if status.Phase != was.Phase {
		kind := corev1.EventTypeNormal
		if status.Phase == refitv1alpha1.PhaseStalled {
			kind = corev1.EventTypeWarning
		}
		c.Events.Eventf(seen.operation, nil, kind, string(status.Phase), string(status.Phase), "%s", status.Doing)
	}
	for i := range seen.decision.Do {
		if a := &seen.decision.Do[i]; a.Kind == plan.Claim || a.Kind == plan.Free {
			c.Events.Eventf(seen.operation, nil, corev1.EventTypeNormal, string(a.Kind), string(a.Kind), "%s: %s", a.Node, a.Reason)
		}
	}
}
