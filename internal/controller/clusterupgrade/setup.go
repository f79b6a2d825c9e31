package clusterupgrade

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// SetUp lets a manager run the controller. Everything that is watched may let an unfinished operation go on, so each change of it wakes all of them; they are
// few, and wakes of the same moment are one.
func (c *Controller) SetUp(manager ctrl.Manager) error {
	wakes := handler.EnqueueRequestsFromMapFunc(c.unfinished)
	return ctrl.NewControllerManagedBy(manager).
		For(&refitv1alpha1.ClusterUpgrade{}).
		Watches(&corev1.Node{}, wakes).
		Watches(&refitv1alpha1.NodeUpgrade{}, wakes).
		Watches(&refitv1alpha1.NodeReport{}, wakes).
		Watches(&refitv1alpha1.Release{}, wakes).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}). // one decides at a time
		Complete(c)
}

// unfinished are the operations that may have something to do.
func (c *Controller) unfinished(ctx context.Context, _ client.Object) []reconcile.Request {
	var all refitv1alpha1.ClusterUpgradeList
	if err := c.Watched.List(ctx, &all); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range all.Items {
		if o := &all.Items[i]; !o.HasEnded() || !o.DeletionTimestamp.IsZero() {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: o.Name}})
		}
	}
	return out
}
