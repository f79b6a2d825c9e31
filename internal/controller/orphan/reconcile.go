package orphan

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// Reconciler removes marks whose operation no longer exists.
type Reconciler struct {
	// Cache reads from informers. Client reads from the API server, and writes.
	Cache    client.Reader
	Client   client.Client
	Recorder events.EventRecorder
}

// Reconcile decides about one node. It consults the API server only if the cache shows an orphaned
// mark, and acts on the API server's answer: the cache may not have the operation yet.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	if cached, err := observe(ctx, r.Cache, request); err != nil || cached.action == nil {
		return ctrl.Result{}, err
	}
	obs, err := observe(ctx, r.Client, request)
	if err != nil || obs.action == nil {
		return ctrl.Result{}, err
	}
	if obs.action.Kind == plan.KeepCordon {
		r.report(obs)
		return ctrl.Result{}, nil
	}
	err = r.execute(ctx, obs)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) { // the change that came first causes an event
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, err
}

// observation is what was read about one node, and the action that follows from it.
type observation struct {
	node   corev1.Node
	order  refitv1alpha1.NodeUpgrade
	action *plan.Action // nil: nothing to do
}

func observe(ctx context.Context, reader client.Reader, request ctrl.Request) (*observation, error) {
	obs := &observation{}
	if err := reader.Get(ctx, request.NamespacedName, &obs.node); err != nil {
		return obs, client.IgnoreNotFound(err)
	}
	if !markedByRefit(&obs.node) {
		return obs, nil
	}
	n := cluster.Node{
		Name: obs.node.Name, UID: string(obs.node.UID),
		CordonedBy: obs.node.Annotations[refitv1alpha1.AnnotationCordonedBy], ProtectedBy: obs.node.Annotations[refitv1alpha1.AnnotationProtectedBy],
	}
	switch err := reader.Get(ctx, request.NamespacedName, &obs.order); {
	case err == nil:
		n.Upgrade = &cluster.Upgrade{Generation: obs.order.Generation, Spec: obs.order.Spec, Status: obs.order.Status}
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("cannot get NodeUpgrade %s: %w", request.Name, err)
	}
	var operations refitv1alpha1.ClusterUpgradeList
	if err := reader.List(ctx, &operations); err != nil {
		return nil, fmt.Errorf("cannot list ClusterUpgrades: %w", err)
	}
	exists := map[string]bool{}
	for i := range operations.Items {
		exists[string(operations.Items[i].UID)] = true
	}
	obs.action = plan.Orphan(&n, func(uid string) bool { return exists[uid] })
	return obs, nil
}
