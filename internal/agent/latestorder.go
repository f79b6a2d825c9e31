package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// latestOrder holds the latest order and drops older ones.
type latestOrder struct {
	mu     sync.Mutex
	order  *refitv1alpha1.NodeUpgrade
	wake   chan struct{}
	cancel context.CancelCauseFunc // cancels the step that a newer order may interrupt
	taken  int64                   // sequence of the last order taken
	wait   time.Duration           // backoff for an order that cannot be judged yet
	tries  int                     // how often it could not be judged
	timer  *time.Timer
	alarm  *time.Timer // wakes the loop without an order
}

func newLatestOrder() *latestOrder { return &latestOrder{wake: make(chan struct{}, 1)} }

func (l *latestOrder) put(order *refitv1alpha1.NodeUpgrade) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.order = order
	// The watch also delivers status changes of the same order.
	if order.Spec.Sequence > l.taken && l.cancel != nil {
		l.cancel(errNewOrder)
	}
	l.trigger()
}

func (l *latestOrder) take() *refitv1alpha1.NodeUpgrade {
	l.mu.Lock()
	defer l.mu.Unlock()
	order := l.order
	l.order = nil
	if order != nil {
		if order.Spec.Sequence != l.taken {
			l.tries = 0
		}
		l.taken = order.Spec.Sequence
	}
	return order
}

// requeue adds an order again after a while, unless there is a newer one.
func (l *latestOrder) requeue(order *refitv1alpha1.NodeUpgrade, after time.Duration) {
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

// wakeAfter wakes the loop after a while, also without an order.
func (l *latestOrder) wakeAfter(after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.alarm != nil {
		l.alarm.Stop()
	}
	l.alarm = time.AfterFunc(after, l.trigger)
}

func (l *latestOrder) trigger() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// errNewOrder interrupts a step that changes nothing, such as an obsolete download.
var errNewOrder = errors.New("superseded by a newer order")

// interruptible returns a context that a newer order cancels, if the next step may be interrupted.
func (a *Agent) interruptible(ctx context.Context) context.Context {
	move := node.Next(a.upgrade.journal.Records())
	if move.Kind == node.MoveRun && move.Step.Prefetch {
		return a.orders.interrupt(ctx)
	}
	a.orders.mu.Lock()
	defer a.orders.mu.Unlock()
	a.orders.endInterrupt()
	return ctx
}

// interrupt returns a context that a newer order cancels.
func (l *latestOrder) interrupt(ctx context.Context) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endInterrupt()
	ctx, l.cancel = context.WithCancelCause(ctx)
	if l.order != nil && l.order.Spec.Sequence > l.taken { // it arrived since the last take
		l.cancel(errNewOrder)
	}
	return ctx
}

// endInterrupt releases the context of the step before, which has ended.
func (l *latestOrder) endInterrupt() {
	if l.cancel != nil {
		l.cancel(nil)
	}
	l.cancel = nil
}
