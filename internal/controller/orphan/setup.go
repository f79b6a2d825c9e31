package orphan

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Setup makes the controller and adds it to a manager.
func Setup(manager ctrl.Manager, options controller.Options) error {
	r := &Reconciler{Cache: manager.GetCache(), Client: manager.GetClient(), Recorder: manager.GetEventRecorder("refit")}
	return r.SetupWithManager(manager, options)
}

// SetupWithManager adds the controller to a manager. It reconciles nodes that Refit marked when
// they or their NodeUpgrades change, and all of them when an operation is deleted.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager, options controller.Options) error {
	deleted := predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(event.UpdateEvent) bool { return false },
	}
	return ctrl.NewControllerManagedBy(manager).Named("orphan").
		WithOptions(options).
		For(&corev1.Node{}, builder.WithPredicates(predicate.NewPredicateFuncs(markedByRefit))).
		Watches(&refitv1alpha1.NodeUpgrade{}, &handler.EnqueueRequestForObject{}).
		Watches(&refitv1alpha1.ClusterUpgrade{}, handler.EnqueueRequestsFromMapFunc(r.markedNodes), builder.WithPredicates(deleted)).
		Complete(r)
}

func markedByRefit(node client.Object) bool {
	annotations := node.GetAnnotations()
	return annotations[refitv1alpha1.AnnotationCordonedBy] != "" || annotations[refitv1alpha1.AnnotationProtectedBy] != ""
}

// markedNodes are the nodes that Refit cordoned or protected.
func (r *Reconciler) markedNodes(ctx context.Context, _ client.Object) []ctrl.Request {
	var nodes corev1.NodeList
	if err := r.Cache.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		ctrllog.FromContext(ctx).Error(err, "Cannot list nodes in the cache")
		return nil
	}
	var out []ctrl.Request
	for i := range nodes.Items {
		if markedByRefit(&nodes.Items[i]) {
			out = append(out, ctrl.Request{NamespacedName: types.NamespacedName{Name: nodes.Items[i].Name}})
		}
	}
	return out
}
