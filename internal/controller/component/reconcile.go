package component

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// grace is how much longer than its limit a freeze may last: refit-components lifts it itself if it
// runs, and another replica takes over within this time.
const grace = 2 * time.Minute

// fieldOwner is the field manager of the controller.
const fieldOwner = client.FieldOwner("refit-controller")

// Reconciler lifts the freeze of a ComponentUpgrade that is overdue.
type Reconciler struct {
	Client   client.Client
	Recorder events.EventRecorder
	Now      func() time.Time
}

// Reconcile waits until the freeze of a ComponentUpgrade is overdue, and lifts it. The order stays
// otherwise as it is: refit-components continues with it when it runs again.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var u refitv1alpha1.ComponentUpgrade
	if err := r.Client.Get(ctx, request.NamespacedName, &u); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !isFrozen(&u) {
		return ctrl.Result{}, nil
	}
	frozen := u.Status.Frozen
	if rest := frozen.Since.Add(frozen.Limit.Duration + grace).Sub(r.Now()); rest > 0 {
		return ctrl.Result{RequeueAfter: rest}, nil
	}
	u.Spec.Thaw = true
	u.Spec.Sequence++
	if err := r.Client.Update(ctx, &u, fieldOwner); err != nil { // a conflict is another order, and is read again
		return ctrl.Result{}, fmt.Errorf("cannot lift the freeze of component %s: %w", u.Name, err)
	}
	r.Recorder.Eventf(&u, nil, corev1.EventTypeWarning, "FreezeLifted", "Thaw",
		"The freeze lasted longer than %s, and refit-components has not lifted it", frozen.Limit.Duration)
	return ctrl.Result{}, nil
}
