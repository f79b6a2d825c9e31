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

// Controller brings operations on, the oldest first.
type Controller struct {
	// Watched reads what is watched; Live reads from the API itself, and writes.
	Watched client.Reader
	Live    client.Client
	World   *observe.World
	// Left lists the pods that a node would still have to lose, by a live read.
	Left   func(ctx context.Context, node string) ([]string, error)
	Events events.EventRecorder
	Now    func() time.Time

	led leads
}

// again is when an operation is looked at although nothing was heard: what waits for a time, or for something that nobody watches, goes on then.
const again = 10 * time.Second

// Reconcile brings one operation on as far as it goes now.
func (c *Controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	operation := &refitv1alpha1.ClusterUpgrade{}
	if err := c.Live.Get(ctx, request.NamespacedName, operation); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if gone(operation) {
		return reconcile.Result{}, nil
	}
	after, err := c.bringOn(ctx, operation)
	if apierrors.IsConflict(err) { // what was decided on is no longer so
		return reconcile.Result{RequeueAfter: time.Millisecond}, nil
	}
	return reconcile.Result{RequeueAfter: after}, err
}

// bringOn makes one decision and carries it out. It returns when to look again.
func (c *Controller) bringOn(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade) (time.Duration, error) {
	if err := c.hold(ctx, operation); err != nil {
		return 0, err
	}
	if err := c.lead(ctx, operation); err != nil {
		return 0, err
	}
	seen, err := c.think(ctx, operation)
	if err != nil {
		return 0, err
	}
	if err := c.carryOut(ctx, seen); err != nil {
		return 0, err
	}
	return c.after(ctx, seen)
}

// after is what follows a decision that was carried out: an operation that was deleted is let go of, another one is looked at again.
func (c *Controller) after(ctx context.Context, seen *sight) (time.Duration, error) {
	if !seen.decision.State.Ended() {
		return until(seen.decision, c.Now()), nil
	}
	if len(seen.decision.Do) > 0 {
		return again, nil
	}
	return 0, c.letGo(ctx, seen.operation)
}

// until is how long nothing is known to change by itself.
func until(d plan.Decision, now time.Time) time.Duration {
	next := again
	for _, w := range d.Waiting {
		if left := w.Until.Sub(now); !w.Until.IsZero() && left < next {
			next = max(left, 100*time.Millisecond)
		}
	}
	return next
}
