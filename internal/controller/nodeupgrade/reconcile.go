package nodeupgrade

import (
	"context"
	"time"

	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/drain"
	"github.com/refit-dev/refit/internal/engine/trial"
)

// Reconciler empties nodes and tries them.
type Reconciler struct {
	Client   client.Client
	Drainer  *drain.Drainer
	Trials   *trial.Runner
	Recorder events.EventRecorder
	Now      func() time.Time
	// Refused counts evictions that a budget or the API refused.
	CountRefusedEvictions func(more int64)

	drains jobs[drainJob]
	trials jobs[trialJob]
}

// SetupWithManager lets a manager run the controller. What is under way ends when the manager does.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	if err := manager.Add(r); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(manager).
		For(&refitv1alpha1.NodeUpgrade{}, builder.WithPredicates(predicate.NewPredicateFuncs(r.concerns))).
		WithOptions(controller.Options{MaxConcurrentReconciles: 8}).
		Complete(r)
}

// concerns says whether there is something to begin or to end on a node. Most of what five thousand agents tell is about neither.
func (r *Reconciler) concerns(object client.Object) bool {
	u, is := object.(*refitv1alpha1.NodeUpgrade)
	if !is {
		return false
	}
	_, drains := drainOf(u)
	_, tries := trialOf(u)
	return drains || tries || r.drains.has(u.Name) || r.trials.has(u.Name)
}

// Start tidies up after whoever led before, and keeps what is under way alive until the context ends.
func (r *Reconciler) Start(ctx context.Context) error {
	r.removeLeftoverTrials(ctx)
	<-ctx.Done()
	r.drains.shutDown()
	r.trials.shutDown()
	return nil
}

// Reconcile begins or ends what is done with one node.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	u := &refitv1alpha1.NodeUpgrade{}
	if err := r.Client.Get(ctx, request.NamespacedName, u); err != nil {
		r.drains.stop(request.Name)
		r.trials.stop(request.Name)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	requeue := func(ctx context.Context) { r.requeue(ctx, request) }
	r.drains.sync(ctx, u, drainOf, r.runDrain, requeue)
	r.trials.sync(ctx, u, trialOf, r.runTrial, requeue)
	return reconcile.Result{}, nil
}

// requeue looks at a node on which something has just ended.
func (r *Reconciler) requeue(ctx context.Context, request reconcile.Request) {
	for ctx.Err() == nil {
		if _, err := r.Reconcile(ctx, request); err == nil {
			return
		}
		sleep(ctx, apiRetryInterval)
	}
}
