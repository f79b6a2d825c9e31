package drain

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

// backlog is the buffer of events for the loop. The API ends the watch of a slow client, and the
// pods of a node end in bursts.
const backlog = 1024

// Drainer drains nodes, several at once if need be.
type Drainer struct {
	client kubernetes.Interface
	log    *slog.Logger
}

// New returns a Drainer that uses a client.
func New(client kubernetes.Interface, log *slog.Logger) *Drainer {
	return &Drainer{client: client, log: log}
}

// Order is a node to drain, and how.
type Order struct {
	Node string
	// Waived reports which unmanaged pods may be deleted although nothing recreates them; nil:
	// none.
	Waived func(namespace, name string) bool
	// DataWaived reports which owners' pods, by kind and name such as StatefulSet shop/db, may lose
	// the data in their emptyDir volumes; nil: none.
	DataWaived func(owner string) bool
	// Delete deletes the pods whose budgets refuse. It is the pool's policy after its timeout.
	Delete bool
}

// Drain returns nil when the node is drained, the error of the context, or an error that names a
// missing permission. It continues while the API is unreachable. Pods that start on the node in the
// meantime are evicted, too: cordon it first.
//
// report is called when the pods of the node are first known, and after every change; never
// concurrently, and never twice with the same Progress.
func (d *Drainer) Drain(ctx context.Context, order Order, report func(Progress)) error {
	// The library logs nothing: Progress reports it.
	ctx, stop := context.WithCancel(klog.NewContext(ctx, logr.Discard()))
	r := &run{Drainer: d, view: newView(order, time.Now()), events: make(chan func(time.Time), backlog), budgets: map[*budget]context.CancelFunc{}}
	defer r.running.Wait()
	defer stop()
	r.restartWatch(ctx)
	var last *Progress
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := time.Now()
		r.act(ctx, now)
		if p := r.view.progress(now); r.view.known(now) && (last == nil || !p.equal(*last)) {
			last = &p
			report(p)
		}
		if r.view.err != nil || r.view.drained {
			return r.view.err
		}
		r.wait(ctx, time.Until(r.view.nextWake(now)))
	}
}

// run is one drain.
type run struct {
	*Drainer

	view    *view // only the loop uses it
	events  chan func(now time.Time)
	pods    context.CancelFunc             // stops the watch
	budgets map[*budget]context.CancelFunc // by value: a budget that was forgotten is watched again
	running sync.WaitGroup
}

// act starts watches and requests.
func (r *run) act(ctx context.Context, now time.Time) {
	if r.view.stale {
		r.view.stale = false
		r.log.WarnContext(ctx, "restarting a stale watch", "node", r.view.order.Node)
		r.restartWatch(ctx)
	}
	r.watchBudgets(ctx)
	for _, t := range r.view.next(now) {
		r.running.Go(func() { r.do(ctx, t) })
	}
	if r.view.needsLiveRead(now) {
		r.view.reading = true
		r.running.Go(func() { r.readLive(ctx, now) })
	}
}

// do sends one request.
func (r *run) do(ctx context.Context, t task) {
	if t.action == listBudgets {
		found, err := r.listBudgets(ctx, t.key.Namespace)
		r.post(ctx, func(now time.Time) { r.view.listed(t, found, classify(err), now) })
		return
	}
	send := r.evict
	if t.action == deletePod {
		send = r.deletePod
	}
	resp := classify(send(ctx, t))
	r.post(ctx, func(now time.Time) { r.view.handleResponse(t, resp, now) })
}

func (r *run) readLive(ctx context.Context, started time.Time) {
	pods, err := r.listPods(ctx, r.view.order.Node)
	r.post(ctx, func(now time.Time) { r.view.handleLiveRead(pods, classify(err), started, now) })
}

// restartWatch starts a watch of the pods of the node, and stops the former one.
func (r *run) restartWatch(ctx context.Context) {
	if r.pods != nil {
		r.pods()
	}
	ctx, r.pods = context.WithCancel(ctx)
	r.running.Go(func() { r.watchPods(ctx) })
}

// watchBudgets starts and stops watches, so that the budgets are watched for which pods wait.
func (r *run) watchBudgets(ctx context.Context) {
	wanted := r.view.budgetsToWatch()
	for b, stop := range r.budgets {
		if !wanted[b] {
			stop()
			delete(r.budgets, b)
		}
	}
	for b := range wanted {
		if r.budgets[b] == nil {
			ctx, stop := context.WithCancel(ctx)
			r.budgets[b] = stop
			r.log.InfoContext(ctx, "watching a PodDisruptionBudget that refuses evictions", "node", r.view.order.Node, "budget", b.key.String())
			r.running.Go(func() { r.watchBudget(ctx, b.key) })
		}
	}
}

// noteAttempt records the result of a list or a watch.
func (r *run) noteAttempt(ctx context.Context, err error, started time.Time, permission string) {
	resp := classify(err)
	r.post(ctx, func(now time.Time) {
		r.view.noteReachable(resp, started, now)
		if resp.kind == forbidden {
			r.view.missingPermission(allPods, permission, resp, now)
		}
	})
}

// post sends an event to the loop, unless its context has ended.
func (r *run) post(ctx context.Context, event func(now time.Time)) {
	select {
	case r.events <- func(now time.Time) {
		if ctx.Err() == nil {
			event(now)
		}
	}:
	case <-ctx.Done():
	}
}

// wait waits for events, and handles all that there are.
func (r *run) wait(ctx context.Context, timeout time.Duration) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case event := <-r.events:
		event(time.Now())
		for range len(r.events) {
			(<-r.events)(time.Now())
		}
	}
}
