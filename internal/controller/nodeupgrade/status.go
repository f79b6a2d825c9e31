package nodeupgrade

import (
	"context"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// fieldOwner owns the fields that the controller writes.
const fieldOwner = client.FieldOwner("refit-controller")

// patchStatus changes the status of a NodeUpgrade, and retries until that is written or the object
// is gone: a result that is not written down would be lost with the process.
func (r *Reconciler) patchStatus(ctx context.Context, node string, change func(*refitv1alpha1.NodeUpgrade)) {
	for wait := 100 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 10*time.Second) {
		err := r.tryPatchStatus(ctx, node, change)
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) && ctx.Err() == nil {
			ctrllog.FromContext(ctx).Error(err, "Cannot write the status of a NodeUpgrade, retrying", "node", node, "retryAfter", wait)
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

// timestamp is now, as statuses hold it.
func (r *Reconciler) timestamp() *metav1.Time {
	t := metav1.NewTime(r.Now().UTC().Truncate(time.Second))
	return &t
}
