package controller

import (
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// reconcileTimeout ends the context of a reconcile. A snapshot of 5,000 nodes takes seconds,
	// and long jobs such as drains run in goroutines of their own.
	reconcileTimeout = 4 * time.Minute
	// wedgedAfter is when a reconcile that ignores the end of its context counts as wedged.
	wedgedAfter = 5 * time.Minute
)

// liveness knows the queues of all controllers that run in this process. A process that does not
// lead has none, and is alive.
type liveness struct {
	mu     sync.Mutex
	queues map[*trackedQueue]struct{}
}

// check returns why a controller makes no progress, nil if all do.
func (l *liveness) check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for q := range l.queues {
		if err := q.check(time.Now()); err != nil {
			return err
		}
	}
	return nil
}

type (
	requestQueue   = workqueue.TypedRateLimitingInterface[reconcile.Request]
	requestLimiter = workqueue.TypedRateLimiter[reconcile.Request]
)

// newQueue makes the queue of a controller, of the kind that it would have by default.
func (l *liveness) newQueue(log logr.Logger) func(name string, limiter requestLimiter) requestQueue {
	return func(name string, limiter requestLimiter) requestQueue {
		inner := priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) {
			o.Log, o.RateLimiter = log.WithValues("controller", name), limiter
		})
		q := &trackedQueue{PriorityQueue: inner, name: name, running: map[reconcile.Request]time.Time{}}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.queues == nil {
			l.queues = map[*trackedQueue]struct{}{}
		}
		l.queues[q] = struct{}{}
		q.forget = func() { l.forget(q) }
		return q
	}
}

func (l *liveness) forget(q *trackedQueue) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.queues, q)
}

// trackedQueue notes when a worker takes a request, and when it is done with it.
type trackedQueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]

	name   string
	forget func()

	mu           sync.Mutex
	running      map[reconcile.Request]time.Time
	pendingSince time.Time // when a check first found requests that no worker has taken since
}

// Get is of workqueue.TypedInterface.
func (q *trackedQueue) Get() (request reconcile.Request, shutdown bool) {
	request, _, shutdown = q.GetWithPriority()
	return request, shutdown
}

// GetWithPriority is of priorityqueue.PriorityQueue.
func (q *trackedQueue) GetWithPriority() (request reconcile.Request, priority int, shutdown bool) {
	request, priority, shutdown = q.PriorityQueue.GetWithPriority()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !shutdown {
		q.running[request], q.pendingSince = time.Now(), time.Time{}
	}
	return request, priority, shutdown
}

// Done is of workqueue.TypedInterface.
func (q *trackedQueue) Done(request reconcile.Request) {
	q.PriorityQueue.Done(request)
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.running, request)
}

// ShutDown is of workqueue.TypedInterface. The manager calls it when it stops, as when it lost the
// lead: it waits a bounded time for its workers, and the next manager has queues of its own.
func (q *trackedQueue) ShutDown() {
	q.forget()
	q.PriorityQueue.ShutDown()
}

// ShutDownWithDrain is of workqueue.TypedInterface.
func (q *trackedQueue) ShutDownWithDrain() {
	q.forget()
	q.PriorityQueue.ShutDownWithDrain()
}

func (q *trackedQueue) check(now time.Time) error {
	pending := q.Len()
	q.mu.Lock()
	defer q.mu.Unlock()
	for request, since := range q.running {
		if running := now.Sub(since); running >= wedgedAfter {
			return fmt.Errorf("controller %s: the reconcile of %s has been running for %s", q.name, request.Name, running.Round(time.Second))
		}
	}
	switch {
	case pending == 0:
		q.pendingSince = time.Time{}
	case q.pendingSince.IsZero():
		q.pendingSince = now
	case now.Sub(q.pendingSince) >= wedgedAfter:
		return fmt.Errorf("controller %s: %d requests are pending and no worker has taken one for %s",
			q.name, pending, now.Sub(q.pendingSince).Round(time.Second))
	}
	return nil
}
