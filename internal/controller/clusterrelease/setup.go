package clusterrelease

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Setup makes the controller and adds it to a manager.
func Setup(manager ctrl.Manager, options controller.Options) error {
	r := &Reconciler{Cache: manager.GetCache(), Client: manager.GetClient(), Now: time.Now}
	return r.SetupWithManager(manager, options)
}

// SetupWithManager adds the controller to a manager. It reconciles a ClusterRelease when it changes
// and when an agent accepts or rejects an order that names it.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(manager).
		For(&refitv1alpha1.ClusterRelease{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&refitv1alpha1.NodeUpgrade{}, handler.EnqueueRequestsFromMapFunc(releaseOf),
			builder.WithPredicates(predicate.Funcs{UpdateFunc: answerChanged})).
		WithOptions(options).
		Complete(r)
}

// releaseOf is the ClusterRelease that an order names.
func releaseOf(_ context.Context, object client.Object) []ctrl.Request {
	order, is := object.(*refitv1alpha1.NodeUpgrade)
	if !is || order.Spec.Release.Name == "" {
		return nil
	}
	return []ctrl.Request{{NamespacedName: types.NamespacedName{Name: order.Spec.Release.Name}}}
}

// answerChanged reports whether an order or the agent's answer to it changed. Most updates of a
// NodeUpgrade are about steps.
func answerChanged(e event.UpdateEvent) bool {
	was, is := e.ObjectOld.(*refitv1alpha1.NodeUpgrade)
	now, also := e.ObjectNew.(*refitv1alpha1.NodeUpgrade)
	return !is || !also || was.Generation != now.Generation || !equality.Semantic.DeepEqual(accepted(was), accepted(now))
}

func accepted(order *refitv1alpha1.NodeUpgrade) *metav1.Condition {
	return meta.FindStatusCondition(order.Status.Conditions, refitv1alpha1.ConditionAccepted)
}
