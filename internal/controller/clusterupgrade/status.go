package clusterupgrade

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
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
	for i := range obs.Decision.Actions {
		if a := &obs.Decision.Actions[i]; executors[a.Kind] == nil {
			r.recordAction(ctx, obs, a)
		}
	}
	for _, e := range events {
		r.recordEvent(obs, e)
	}
	return nil
}

// writeMinimalStatus writes what the API accepts of a status that it refused. Nothing is executed
// then, unless the operation is aborted: all that is left to do takes nodes to a safe state.
func (r *Reconciler) writeMinimalStatus(ctx context.Context, obs *observation, previous *refitv1alpha1.ClusterUpgradeStatus, refused error) error {
	operation := obs.operation
	ctrllog.FromContext(ctx).Error(refused, "The API refused a status, writing a minimal one", "operation", operation.Name)
	assess.MinimalStatus(operation, previous, obs.Assessment, refused, r.Now())
	if !operation.Spec.Aborted {
		obs.Decision.Actions = nil
	}
	if reflect.DeepEqual(*previous, operation.Status) {
		return nil
	}
	if err := r.Client.Status().Update(ctx, operation); err != nil {
		return fmt.Errorf("cannot update the status of ClusterUpgrade %s: %w", operation.Name, err)
	}
	return nil
}
