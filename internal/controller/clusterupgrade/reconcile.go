package clusterupgrade

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// Reconciler brings operations on, the oldest first.
type Reconciler struct {
	// Watched reads what is watched; Live reads from the API itself, and writes.
	Cache  client.Reader
	Client client.Client
	World  *observe.World
	// Left lists the pods that a node would still have to lose, by a live read.
	PodsToEvict func(ctx context.Context, node string) ([]string, error)
	Recorder    events.EventRecorder
	Now         func() time.Time

	epochs raisedEpochs
}

// requeueInterval is when an operation is looked at although nothing was heard: what waits for a time, or for something that nobody watches, goes on then.
const requeueInterval = 10 * time.Second

// Reconcile brings one operation on as far as it goes now.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	operation := &refitv1alpha1.ClusterUpgrade{}
	if err := r.Client.Get(ctx, request.NamespacedName, operation); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if isFinalized(operation) {
		return reconcile.Result{}, nil
	}
	after, err := r.advance(ctx, operation)
	if apierrors.IsConflict(err) { // what was decided on is no longer so
		return reconcile.Result{RequeueAfter: time.Millisecond}, nil
	}
	return reconcile.Result{RequeueAfter: after}, err
}

// advance makes one decision and carries it out. It returns when to look again.
func (r *Reconciler) advance(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade) (time.Duration, error) {
	if err := r.ensureFinalizer(ctx, operation); err != nil {
		return 0, err
	}
	if err := r.ensureEpoch(ctx, operation); err != nil {
		return 0, err
	}
	obs, err := r.assess(ctx, operation)
	if err != nil {
		return 0, err
	}
	if err := r.execute(ctx, obs); err != nil {
		return 0, err
	}
	return r.nextRequeue(ctx, obs)
}

// nextRequeue is what follows a decision that was carried out: an operation that was deleted is let go of, another one is looked at again.
func (r *Reconciler) nextRequeue(ctx context.Context, obs *observation) (time.Duration, error) {
	if !obs.Decision.State.Ended() {
		return untilNextChange(obs.Decision, r.Now()), nil
	}
	if len(obs.Decision.Actions) > 0 {
		return requeueInterval, nil
	}
	return 0, r.removeFinalizer(ctx, obs.operation)
}

// untilNextChange is how long nothing is known to change by itself.
func untilNextChange(d plan.Decision, now time.Time) time.Duration {
	next := requeueInterval
	for _, w := range d.Waiting {
		if left := w.Until.Sub(now); !w.Until.IsZero() && left < next {
			next = max(left, 100*time.Millisecond)
		}
	}
	return next
}
