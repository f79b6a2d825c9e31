package clusterupgrade

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// finalizer keeps an operation that is deleted until its nodes are safe and our cordons are lifted.
const finalizer = "refit.dev/operation"

// isFinalized says that nothing of ours holds a deleted operation any more.
func isFinalized(operation *refitv1alpha1.ClusterUpgrade) bool {
	return !operation.DeletionTimestamp.IsZero() && !controllerutil.ContainsFinalizer(operation, finalizer)
}

// ensureFinalizer puts the finalizer on an operation that has not ended. One that is deleted is brought to its end as if it had been aborted.
func (r *Reconciler) ensureFinalizer(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade) error {
	if !operation.DeletionTimestamp.IsZero() {
		operation.Spec.Aborted = true // here only: what a person wrote stays
		return nil
	}
	if operation.HasEnded() || controllerutil.ContainsFinalizer(operation, finalizer) {
		return nil
	}
	return r.patchFinalizers(ctx, operation, func(o *refitv1alpha1.ClusterUpgrade) { controllerutil.AddFinalizer(o, finalizer) })
}

// removeFinalizer takes the finalizer off an operation that has ended and left nothing behind.
func (r *Reconciler) removeFinalizer(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade) error {
	if !controllerutil.ContainsFinalizer(operation, finalizer) {
		return nil
	}
	return client.IgnoreNotFound(r.patchFinalizers(ctx, operation, func(o *refitv1alpha1.ClusterUpgrade) { controllerutil.RemoveFinalizer(o, finalizer) }))
}

func (r *Reconciler) patchFinalizers(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade, change func(*refitv1alpha1.ClusterUpgrade)) error {
	before := operation.DeepCopy()
	after := operation.DeepCopy()
	change(after)
	if err := r.Client.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	operation.Finalizers, operation.ResourceVersion = after.Finalizers, after.ResourceVersion
	return nil
}
