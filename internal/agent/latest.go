package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// latest holds the newest order; older ones that nobody took are nobody's business.
type latest struct {
	mu     sync.Mutex
	order  *refitv1alpha1.NodeUpgrade
	wake   chan struct{}
	cancel context.CancelCauseFunc // of the step that a newer order may interrupt
	taken  int64                   // the sequence of the order that was taken last
	wait   time.Duration           // until an order that could not be judged is looked at again
	timer  *time.Timer
}

func newLatest() *latest { return &latest{wake: make(chan struct{}, 1)} }

func (l *latest) put(order *refitv1alpha1.NodeUpgrade) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.order = order
	// Every change of the object comes by here, also those of its status.
	if order.Spec.Sequence > l.taken && l.cancel != nil {
		l.cancel(errNewOrder)
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *latest) take() *refitv1alpha1.NodeUpgrade {
	l.mu.Lock()
	defer l.mu.Unlock()
	order := l.order
	l.order = nil
	if order != nil {
		l.taken = order.Spec.Sequence
	}
	return order
}

// again puts an order back after a while, unless a newer one has come.
func (l *latest) again(order *refitv1alpha1.NodeUpgrade, after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = time.AfterFunc(after, func() {
		l.mu.Lock()
		newer := l.order != nil || order.Spec.Sequence < l.taken
		l.mu.Unlock()
		if !newer {
			l.put(order)
		}
	})
}

// errNewOrder ends a step that changes nothing, so that nobody waits an hour for a download that is no longer wanted.
var errNewOrder = errors.New("there is a newer order")

// interruptible is a context that a newer order ends, if the step at hand may be left as it is.
func (a *Agent) interruptible(ctx context.Context) context.Context {
	move := node.Next(a.work.journal.Records())
	a.orders.mu.Lock()
	defer a.orders.mu.Unlock()
	a.orders.cancel = nil
	if move.Kind != node.MoveRun || !move.Step.Prefetch {
		return ctx
	}
	ctx, a.orders.cancel = context.WithCancelCause(ctx)
	return ctx
}
