package clusterupgrade

import (
	"context"
	"fmt"
	"reflect"

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
	if err := r.Client.Status().Update(ctx, operation); err != nil {
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
