package nodeupgrade

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/drain"
)

// Drainer evicts the pods of a node. Drain returns nil once no pod is left that has to move; it
// retries while the API server is unreachable.
type Drainer interface {
	Drain(ctx context.Context, order drain.Order, progress func(drain.Progress)) error
}

// TrialRunner runs a Pod on a node to prove that the node is healthy.
type TrialRunner interface {
	// Try returns a trial.Failure if the node is unhealthy, trial.ErrNoImage if there is no image.
	Try(ctx context.Context, node string, sequence int64) error
	// DeleteOrphans deletes the Pods of former trials, except on nodes that are being tried.
	DeleteOrphans(ctx context.Context, tried func(ctx context.Context, node string) (bool, error)) error
}

// Reconciler runs the drains and trials that NodeUpgrades request.
type Reconciler struct {
	// Cache reads from informers. Client reads from the API server, and writes.
	Cache    client.Reader
	Client   client.Client
	Drainer  Drainer
	Trials   TrialRunner
	Recorder events.EventRecorder
	Now      func() time.Time
	// CountRefusedEvictions counts evictions that a PodDisruptionBudget or the API server refused.
	CountRefusedEvictions func(more int64)

	drains jobs[drainJob]
	trials jobs[trialJob]
	ended  chan event.GenericEvent // nodes to reconcile because a job on them has ended
}

// Reconcile starts and cancels jobs on one node, which run in goroutines of their own.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	u := &refitv1alpha1.NodeUpgrade{}
	err := r.Client.Get(ctx, request.NamespacedName, u)
	switch {
	case apierrors.IsNotFound(err):
		r.drains.stop(request.Name)
		r.trials.stop(request.Name)
		return ctrl.Result{}, nil
	case err != nil: // jobs keep running: only an order that is known to be gone ends them
		return ctrl.Result{}, fmt.Errorf("cannot get NodeUpgrade %s: %w", request.Name, err)
	}
	r.drains.sync(ctx, u, drainOf, r.runDrain, r.requeue)
	r.trials.sync(ctx, u, trialOf, r.runTrial, r.requeue)
	return ctrl.Result{}, nil
}

// requeue enqueues a node on which a job has ended.
func (r *Reconciler) requeue(ctx context.Context, node string) {
	u := &refitv1alpha1.NodeUpgrade{}
	u.Name = node
	select {
	case r.ended <- event.GenericEvent{Object: u}:
	case <-ctx.Done():
	}
}
