package component

import (
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/observe"
)

// Setup makes the controller and adds it to a manager, unless the installed CRDs are older than
// components.
func Setup(manager ctrl.Manager, options controller.Options) error {
	served, err := observe.Served(manager.GetRESTMapper(), manager.GetScheme(), &refitv1alpha1.ComponentUpgrade{})
	if err != nil || !served {
		return err
	}
	r := &Reconciler{Client: manager.GetClient(), Recorder: manager.GetEventRecorder("refit"), Now: time.Now}
	return ctrl.NewControllerManagedBy(manager).Named("component").
		WithOptions(options).
		For(&refitv1alpha1.ComponentUpgrade{}, builder.WithPredicates(predicate.NewPredicateFuncs(isFrozen))).
		Complete(r)
}

func isFrozen(object client.Object) bool {
	u, ok := object.(*refitv1alpha1.ComponentUpgrade)
	return ok && u.Status.Frozen != nil && !u.Status.Frozen.Lifted && !u.Spec.Thaw
}
