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

// Controller empties nodes and tries them.
type Controller struct {
	Live    client.Client
	Drainer *drain.Drainer
	Trials  *trial.Runner
	Events  events.EventRecorder
	Now     func() time.Time
	// Refused counts evictions that a budget or the API refused.
	Refused func(more int64)

	drains jobs[drainJob]
	trials jobs[trialJob]
}

// SetUp lets a manager run the controller. What is under way ends when the manager does.
func (c *Controller) SetUp(manager ctrl.Manager) error {
	if err := manager.Add(c); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(manager).
		For(&refitv1alpha1.NodeUpgrade{}, builder.WithPredicates(predicate.NewPredicateFuncs(c.concerns))).
		WithOptions(controller.Options{MaxConcurrentReconciles: 8}).
		Complete(c)
}

// concerns says whether there is something to begin or to end on a node. Most of what five thousand agents tell is about neither.
func (c *Controller) concerns(object client.Object) bool {
	u, is := object.(*refitv1alpha1.NodeUpgrade)
	if !is {
		return false
	}
	_, drains := drainOf(u)
	_, tries := trialOf(u)
	return drains || tries || c.drains.has(u.Name) || c.trials.has(u.Name)
}

// Start tidies up after whoever led before, and keeps what is under way alive until the context ends.
func (c *Controller) Start(ctx context.Context) error {
	c.removeLeft(ctx)
	<-ctx.Done()
	c.drains.end()
	c.trials.end()
	return nil
}

// Reconcile begins or ends what is done with one node.
func (c *Controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	u := &refitv1alpha1.NodeUpgrade{}
	if err := c.Live.Get(ctx, request.NamespacedName, u); err != nil {
		c.drains.stop(request.Name)
		c.trials.stop(request.Name)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	lookAgain := func(ctx context.Context) { c.lookAgain(ctx, request) }
	c.drains.follow(ctx, u, drainOf, c.drain, lookAgain)
	c.trials.follow(ctx, u, trialOf, c.try, lookAgain)
	return reconcile.Result{}, nil
}

// lookAgain looks at a node on which something has just ended.
func (c *Controller) lookAgain(ctx context.Context, request reconcile.Request) {
	for ctx.Err() == nil {
		if _, err := c.Reconcile(ctx, request); err == nil {
			return
		}
		pause(ctx, askedAgain)
	}
}
