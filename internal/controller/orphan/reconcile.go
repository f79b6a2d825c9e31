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

// fieldOwner is whose fields the controller's are.
const fieldOwner = client.FieldOwner("refit-controller")

// Reconciler lifts cordons that nobody else would.
type Reconciler struct {
	// Watched reads what is watched; Live reads from the API itself, and writes.
	Cache    client.Reader
	Client   client.Client
	Recorder events.EventRecorder
}

// Reconcile looks at one node. Only where what is watched shows an orphan, the API is asked: news of an operation may be late.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if obs, err := r.observe(ctx, r.Cache, request); err != nil || obs.action == nil {
		return reconcile.Result{}, err
	}
	obs, err := r.observe(ctx, r.Client, request)
	if err != nil || obs.action == nil {
		return reconcile.Result{}, err
	}
	err = r.execute(ctx, &obs)
	if apierrors.IsConflict(err) { // who was quicker wakes us again
		err = nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(err)
}

// observation is one look at a node, and what was decided.
type observation struct {
	node   corev1.Node
	order  refitv1alpha1.NodeUpgrade
	action *plan.Action
}

func (r *Reconciler) observe(ctx context.Context, reader client.Reader, request reconcile.Request) (observation, error) {
	var obs observation
	if err := reader.Get(ctx, request.NamespacedName, &obs.node); err != nil {
		return obs, client.IgnoreNotFound(err)
	}
	n := cluster.Node{Name: obs.node.Name, UID: string(obs.node.UID), CordonedBy: obs.node.Annotations[refitv1alpha1.AnnotationCordonedBy]}
	if n.CordonedBy == "" {
		return obs, nil
	}
	switch err := reader.Get(ctx, request.NamespacedName, &obs.order); {
	case err == nil:
		n.Upgrade = &cluster.Upgrade{Spec: obs.order.Spec, Status: obs.order.Status}
	case !apierrors.IsNotFound(err):
		return obs, err
	}
	var operations refitv1alpha1.ClusterUpgradeList
	if err := reader.List(ctx, &operations); err != nil {
		return obs, err
	}
	there := map[string]bool{}
	for i := range operations.Items {
		there[string(operations.Items[i].UID)] = true
	}
	obs.action = plan.Orphan(&n, func(uid string) bool { return there[uid] })
	return obs, nil
}

// execute does what was decided, if everything is still as it was seen.
func (r *Reconciler) execute(ctx context.Context, obs *observation) error {
	if obs.action.Kind == plan.Hold {
		obs.order.Spec.Permit = refitv1alpha1.PermitHold
		obs.order.Spec.Sequence++
		return r.Client.Update(ctx, &obs.order, fieldOwner)
	}
	was := obs.node.DeepCopy()
	delete(obs.node.Annotations, refitv1alpha1.AnnotationCordonedBy)
	obs.node.Spec.Unschedulable = false
	if err := r.Client.Patch(ctx, &obs.node, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}), fieldOwner); err != nil {
		return err
	}
	r.Recorder.Eventf(&obs.node, nil, corev1.EventTypeNormal, "Uncordoned", "Uncordon", "%s", obs.action.Reason)
	return nil
}
