package orphan

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/orders"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// fieldOwner owns the fields that the controller writes.
const fieldOwner = client.FieldOwner("refit-controller")

// execute executes the action. Both writes carry the resourceVersion that the decision was made on.
func (r *Reconciler) execute(ctx context.Context, obs *observation) error {
	do := r.uncordon
	if obs.action.Kind == plan.Hold {
		do = r.hold
	}
	operation := obs.node.Annotations[refitv1alpha1.AnnotationCordonedBy]
	if err := do(ctx, obs); err != nil {
		return err
	}
	ctrllog.FromContext(ctx).Info("Executed action",
		"operationUID", operation, "node", obs.node.Name, "action", obs.action.Kind, "reason", obs.action.Reason)
	return nil
}

// report reports a node that stays cordoned.
func (r *Reconciler) report(obs *observation) {
	r.Recorder.Eventf(&obs.node, nil, corev1.EventTypeWarning, "CordonKept", "Uncordon", "%s", obs.action.Reason)
}

// hold stops the agent from starting anything more for the operation.
func (r *Reconciler) hold(ctx context.Context, obs *observation) error {
	return orders.Writer{Client: r.Client, FieldOwner: fieldOwner}.Hold(ctx, &obs.order)
}

func (r *Reconciler) uncordon(ctx context.Context, obs *observation) error {
	was := obs.node.DeepCopy()
	delete(obs.node.Annotations, refitv1alpha1.AnnotationCordonedBy)
	obs.node.Spec.Unschedulable = false
	if err := r.Client.Patch(ctx, &obs.node, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}), fieldOwner); err != nil {
		return fmt.Errorf("cannot uncordon node %s: %w", obs.node.Name, err)
	}
	r.Recorder.Eventf(&obs.node, nil, corev1.EventTypeNormal, "Uncordoned", "Uncordon", "%s", obs.action.Reason)
	return nil
}
