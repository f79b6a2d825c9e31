package orphan

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// SetupWithManager lets a manager run the controller. It wakes for marked nodes only, and for work on them; and when an operation goes away, for all that are marked.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	marked := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetAnnotations()[refitv1alpha1.AnnotationCordonedBy] != "" })
	gone := predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(event.UpdateEvent) bool { return false },
	}
	return ctrl.NewControllerManagedBy(manager).Named("orphan").
		For(&corev1.Node{}, builder.WithPredicates(marked)).
		Watches(&refitv1alpha1.NodeUpgrade{}, &handler.EnqueueRequestForObject{}).
		Watches(&refitv1alpha1.ClusterUpgrade{}, handler.EnqueueRequestsFromMapFunc(r.markedNodes), builder.WithPredicates(gone)).
		Complete(r)
}

// markedNodes are the nodes that have a mark.
func (r *Reconciler) markedNodes(ctx context.Context, _ client.Object) []reconcile.Request {
	var nodes corev1.NodeList
	if err := r.Cache.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range nodes.Items {
		if nodes.Items[i].Annotations[refitv1alpha1.AnnotationCordonedBy] != "" {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: nodes.Items[i].Name}})
		}
	}
	return out
}
