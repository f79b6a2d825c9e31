package clusterupgrade

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// writeStatus writes the operation's status if it changed. The update names the resourceVersion
// that was read, so it fails if another leader has written since.
func (r *Reconciler) writeStatus(ctx context.Context, obs *observation) error {
	operation := obs.operation
	previous := operation.Status.DeepCopy()
	assess.UpdateStatus(operation, obs.Assessment, r.Now())
	if reflect.DeepEqual(*previous, operation.Status) {
		return nil
	}
	events := eventsFor(previous, &operation.Status, obs)
	err := r.Client.Status().Update(ctx, operation)
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		return r.writeMinimalStatus(ctx, obs, previous, err)
	}
	if err != nil {
		return fmt.Errorf("cannot update the status of ClusterUpgrade %s: %w", operation.Name, err)
	}
	r.recordWritten(ctx, obs)
	for _, e := range events {
		r.recordEvent(obs, e)
	}
	return nil
}

// recordWritten records the actions that a write of the status executes.
func (r *Reconciler) recordWritten(ctx context.Context, obs *observation) {
	for i := range obs.Decision.Actions {
		if a := &obs.Decision.Actions[i]; executors[a.Kind] == nil {
			r.recordAction(ctx, obs, a)
		}
	}
}

// writeMinimalStatus writes what the API accepts of a status that it refused. No node is claimed
// then, and those that are claimed continue: an abort or a release must not depend on the rest of
// the status.
func (r *Reconciler) writeMinimalStatus(ctx context.Context, obs *observation, previous *refitv1alpha1.ClusterUpgradeStatus, refused error) error {
	operation := obs.operation
	ctrllog.FromContext(ctx).Error(refused, "The API refused a status, writing a minimal one", "operation", operation.Name)
	assess.MinimalStatus(operation, previous, obs.Assessment, refused, r.Now())
	obs.Decision.Actions = slices.DeleteFunc(obs.Decision.Actions, func(a plan.Action) bool { return a.Kind == plan.Claim })
	if reflect.DeepEqual(*previous, operation.Status) {
		return nil
	}
	if err := r.Client.Status().Update(ctx, operation); err != nil {
		return fmt.Errorf("cannot update the status of ClusterUpgrade %s: %w", operation.Name, err)
	}
	r.recordWritten(ctx, obs)
	return nil
}
