package orphan

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/orders"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// fieldOwner owns the fields that the controller writes.
const fieldOwner = client.FieldOwner("refit-controller")

// execute executes the action. Both writes carry the resourceVersion that the decision was made on.
func (r *Reconciler) execute(ctx context.Context, obs *observation) error {
	do := map[plan.ActionKind]func(context.Context, *observation) error{
		plan.Hold: r.hold, plan.Uncordon: r.uncordon, plan.Unprotect: r.unprotect,
	}[obs.action.Kind]
	operation := cmp.Or(obs.node.Annotations[refitv1alpha1.AnnotationCordonedBy], obs.node.Annotations[refitv1alpha1.AnnotationProtectedBy])
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
	was, annotations := obs.node.DeepCopy(), obs.node.Annotations
	if annotations[refitv1alpha1.AnnotationProtectedBy] == annotations[refitv1alpha1.AnnotationCordonedBy] {
		cluster.Unprotect(annotations)
	}
	delete(annotations, refitv1alpha1.AnnotationCordonedBy)
	obs.node.Spec.Unschedulable = false
	if err := r.patch(ctx, obs, was); err != nil {
		return fmt.Errorf("cannot uncordon node %s: %w", obs.node.Name, err)
	}
	r.Recorder.Eventf(&obs.node, nil, corev1.EventTypeNormal, "Uncordoned", "Uncordon", "%s", obs.action.Reason)
	return nil
}

// unprotect lets autoscalers remove the node again.
func (r *Reconciler) unprotect(ctx context.Context, obs *observation) error {
	was := obs.node.DeepCopy()
	cluster.Unprotect(obs.node.Annotations)
	if err := r.patch(ctx, obs, was); err != nil {
		return fmt.Errorf("cannot let autoscalers remove node %s: %w", obs.node.Name, err)
	}
	return nil
}

func (r *Reconciler) patch(ctx context.Context, obs *observation, was *corev1.Node) error {
	return r.Client.Patch(ctx, &obs.node, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}), fieldOwner)
}
