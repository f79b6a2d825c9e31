package nodeupgrade

import (
	"context"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// fieldOwner is whose fields the controller's are.
const fieldOwner = client.FieldOwner("refit-controller")

// patchStatus changes the status of a node's work until that is written, or there is nothing to change.
func (r *Reconciler) patchStatus(ctx context.Context, node string, change func(*refitv1alpha1.NodeUpgrade)) {
	for wait := 100 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 10*time.Second) {
		err := r.tryPatchStatus(ctx, node, change)
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) && ctx.Err() == nil {
			ctrllog.FromContext(ctx).Info("the work on a node cannot be told of now", "node", node, "error", err.Error())
		}
		sleep(ctx, wait)
	}
}

func (r *Reconciler) tryPatchStatus(ctx context.Context, node string, change func(*refitv1alpha1.NodeUpgrade)) error {
	u := &refitv1alpha1.NodeUpgrade{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: node}, u); err != nil {
		return client.IgnoreNotFound(err)
	}
	was := u.DeepCopy()
	change(u)
	if reflect.DeepEqual(was.Status, u.Status) {
		return nil
	}
	return r.Client.Status().Patch(ctx, u, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}), fieldOwner)
}
