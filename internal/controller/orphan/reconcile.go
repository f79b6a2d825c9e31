package orphan

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// manager is whose fields the controller's are.
const manager = client.FieldOwner("refit-controller")

// Controller lifts cordons that nobody else would.
type Controller struct {
	// Watched reads what is watched; Live reads from the API itself, and writes.
	Watched client.Reader
	Live    client.Client
	Events  events.EventRecorder
}

// Reconcile looks at one node. Only where what is watched shows an orphan, the API is asked: news of an operation may be late.
func (c *Controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if seen, err := c.look(ctx, c.Watched, request); err != nil || seen.action == nil {
		return reconcile.Result{}, err
	}
	seen, err := c.look(ctx, c.Live, request)
	if err != nil || seen.action == nil {
		return reconcile.Result{}, err
	}
	err = c.carryOut(ctx, &seen)
	if apierrors.IsConflict(err) { // who was quicker wakes us again
		err = nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(err)
}

// sight is one look at a node, and what was decided.
type sight struct {
	node   corev1.Node
	order  refitv1alpha1.NodeUpgrade
	action *plan.Action
}

func (c *Controller) look(ctx context.Context, reader client.Reader, request reconcile.Request) (sight, error) {
	var seen sight
	if err := reader.Get(ctx, request.NamespacedName, &seen.node); err != nil {
		return seen, client.IgnoreNotFound(err)
	}
	n := cluster.Node{Name: seen.node.Name, UID: string(seen.node.UID), CordonedBy: seen.node.Annotations[refitv1alpha1.AnnotationCordonedBy]}
	if n.CordonedBy == "" {
		return seen, nil
	}
	switch err := reader.Get(ctx, request.NamespacedName, &seen.order); {
	case err == nil:
		n.Upgrade = &cluster.Upgrade{Spec: seen.order.Spec, Status: seen.order.Status}
	case !apierrors.IsNotFound(err):
		return seen, err
	}
	var operations refitv1alpha1.ClusterUpgradeList
	if err := reader.List(ctx, &operations); err != nil {
		return seen, err
	}
	there := map[string]bool{}
	for i := range operations.Items {
		there[string(operations.Items[i].UID)] = true
	}
	seen.action = plan.Orphan(&n, func(uid string) bool { return there[uid] })
	return seen, nil
}

// carryOut does what was decided, if everything is still as it was seen.
func (c *Controller) carryOut(ctx context.Context, seen *sight) error {
	if seen.action.Kind == plan.Hold {
		seen.order.Spec.Permit = refitv1alpha1.PermitHold
		seen.order.Spec.Sequence++
		return c.Live.Update(ctx, &seen.order, manager)
	}
	was := seen.node.DeepCopy()
	delete(seen.node.Annotations, refitv1alpha1.AnnotationCordonedBy)
	seen.node.Spec.Unschedulable = false
	if err := c.Live.Patch(ctx, &seen.node, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}), manager); err != nil {
		return err
	}
	c.Events.Eventf(&seen.node, nil, corev1.EventTypeNormal, "Uncordoned", "Uncordon", "%s", seen.action.Reason)
	return nil
}
