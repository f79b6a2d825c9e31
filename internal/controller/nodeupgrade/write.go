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

// manager is whose fields the controller's are.
const manager = client.FieldOwner("refit-controller")

// insist changes the status of a node's work until that is written, or there is nothing to change.
func (c *Controller) insist(ctx context.Context, node string, change func(*refitv1alpha1.NodeUpgrade)) {
	for wait := 100 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 10*time.Second) {
		err := c.write(ctx, node, change)
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) && ctx.Err() == nil {
			ctrllog.FromContext(ctx).Info("the work on a node cannot be told of now", "node", node, "error", err.Error())
		}
		pause(ctx, wait)
	}
}

func (c *Controller) write(ctx context.Context, node string, change func(*refitv1alpha1.NodeUpgrade)) error {
	u := &refitv1alpha1.NodeUpgrade{}
	if err := c.Live.Get(ctx, types.NamespacedName{Name: node}, u); err != nil {
		return client.IgnoreNotFound(err)
	}
	was := u.DeepCopy()
	change(u)
	if reflect.DeepEqual(was.Status, u.Status) {
		return nil
	}
	return c.Live.Status().Patch(ctx, u, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}), manager)
}
