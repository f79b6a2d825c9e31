package clusterupgrade

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// finalizer keeps a deleted operation until its nodes are safe and its cordons are lifted.
const finalizer = "refit.dev/operation"

// isFinalized reports whether an operation is deleted and the finalizer removed.
func isFinalized(operation *refitv1alpha1.ClusterUpgrade) bool {
	return !operation.DeletionTimestamp.IsZero() && !controllerutil.ContainsFinalizer(operation, finalizer)
}

// ensureFinalizer adds the finalizer to an operation. A deleted operation is treated as if it were
// aborted.
func (r *Reconciler) ensureFinalizer(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade) error {
	if !operation.DeletionTimestamp.IsZero() {
		operation.Spec.Aborted = true // in memory only: the user's spec stays
		return nil
	}
	if controllerutil.ContainsFinalizer(operation, finalizer) {
		return nil
	}
	return r.patchFinalizers(ctx, operation, controllerutil.AddFinalizer)
}

// removeFinalizer removes the finalizer from an operation that is over.
func (r *Reconciler) removeFinalizer(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade) error {
	if !controllerutil.ContainsFinalizer(operation, finalizer) {
		return nil
	}
	return client.IgnoreNotFound(r.patchFinalizers(ctx, operation, controllerutil.RemoveFinalizer))
}

func (r *Reconciler) patchFinalizers(
	ctx context.Context, operation *refitv1alpha1.ClusterUpgrade, change func(client.Object, string) bool,
) error {
	before := operation.DeepCopy()
	after := operation.DeepCopy()
	change(after, finalizer)
	if err := r.Client.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("cannot patch the finalizers of ClusterUpgrade %s: %w", operation.Name, err)
	}
	operation.Finalizers, operation.ResourceVersion = after.Finalizers, after.ResourceVersion
	return nil
}
