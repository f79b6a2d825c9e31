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

// backlog is how much news may wait for the loop. The API ends the watch of whoever takes events slowly, and a node's pods end in bursts.
const backlog = 1024

// Drainer empties nodes. It may empty several at once.
type Drainer struct {
	client kubernetes.Interface
	log    *slog.Logger
}

// New makes a Drainer that acts with the rights of a client.
func New(client kubernetes.Interface, log *slog.Logger) *Drainer {
	return &Drainer{client: client, log: log}
}

// Order says what to empty, and how.
type Order struct {
	Node string
	// Lose says which pods that nobody makes anew may be ended for good, since a person waived them by name; nil: none.
	Lose func(namespace, name string) bool
	// Delete deletes what budgets hold. It is the pool's policy after its timeout.
	Delete bool
}

// Drain works until the node is empty (nil), the context ends (its error), or a right is missing (an error that says which). While the API is away it
// goes on. Pods that come onto the node meanwhile go, too: cordon it first.
//
// told is called when the pods of the node are first known, and then after every change; never twice at once, and never twice with the same Progress.
func (d *Drainer) Drain(ctx context.Context, order Order, told func(Progress)) error {
	ctx, stop := context.WithCancel(klog.NewContext(ctx, logr.Discard())) // what the library would log is told as progress
	r := &run{Drainer: d, view: newView(order, time.Now()), events: make(chan func(time.Time), backlog), budgets: map[*budget]context.CancelFunc{}}
	defer r.running.Wait()
	defer stop()
	r.watchAnew(ctx)
	var last *Progress
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := time.Now()
		r.act(ctx, now)
		if p := r.view.progress(now); r.view.tells(now) && (last == nil || !p.equal(*last)) {
			last = &p
			told(p)
		}
		if r.view.err != nil || r.view.empty {
			return r.view.err
		}
		r.wait(ctx, time.Until(r.view.wake(now)))
	}
}

// run is one drain.
type run struct {
	*Drainer

	view    *view // the loop's alone
	events  chan func(now time.Time)
	pods    context.CancelFunc             // ends the watch
	budgets map[*budget]context.CancelFunc // the same for each; one that comes back after it was forgotten is watched anew
	running sync.WaitGroup
}

// act starts what there is to do.
func (r *run) act(ctx context.Context, now time.Time) {
	if r.view.behind {
		r.view.behind = false
		r.log.WarnContext(ctx, "the watch of a node was behind, and begins anew", "node", r.view.order.Node)
		r.watchAnew(ctx)
	}
	r.watchBudgets(ctx)
	for _, t := range r.view.next(now) {
		r.running.Go(func() { r.do(ctx, t) })
	}
	if r.view.looksNow(now) {
		r.view.looking = true
		r.running.Go(func() { r.lookLive(ctx, now) })
	}
}

// do makes one request.
func (r *run) do(ctx context.Context, t task) {
	if t.act == list {
		found, err := r.listBudgets(ctx, t.key.Namespace)
		r.post(ctx, func(now time.Time) { r.view.listed(t, found, read(err), now) })
		return
	}
	ask := r.evict
	if t.act == remove {
		ask = r.remove
	}
	a := read(ask(ctx, t))
	r.post(ctx, func(now time.Time) { r.view.answered(t, a, now) })
}

func (r *run) lookLive(ctx context.Context, begun time.Time) {
	pods, err := r.listPods(ctx, r.view.order.Node)
	r.post(ctx, func(now time.Time) { r.view.saysLive(pods, read(err), begun, now) })
}

// watchAnew begins to watch the pods of the node; a watch from before is given up.
func (r *run) watchAnew(ctx context.Context) {
	if r.pods != nil {
		r.pods()
	}
	ctx, r.pods = context.WithCancel(ctx)
	r.running.Go(func() { r.watchPods(ctx) })
}

// watchBudgets begins and ends watches, so that those budgets are watched that pods wait for.
func (r *run) watchBudgets(ctx context.Context) {
	wanted := r.view.watched()
	for b, end := range r.budgets {
		if !wanted[b] {
			end()
			delete(r.budgets, b)
		}
	}
	for b := range wanted {
		if r.budgets[b] == nil {
			ctx, end := context.WithCancel(ctx)
			r.budgets[b] = end
			r.log.InfoContext(ctx, "a budget lets pods wait", "node", r.view.order.Node, "budget", b.key.String())
			r.running.Go(func() { r.watchBudget(ctx, b.key) })
		}
	}
}

// tried notes how a list or a watch went.
func (r *run) tried(ctx context.Context, err error, begun time.Time, right string) {
	a := read(err)
	r.post(ctx, func(now time.Time) {
		r.view.heard(a, begun, now)
		if a.kind == forbidden {
			r.view.lack(everything, right, a, now)
		}
	})
}

// post hands news to the loop, unless whoever brings them is not wanted any more.
func (r *run) post(ctx context.Context, news func(now time.Time)) {
	select {
	case r.events <- func(now time.Time) {
		if ctx.Err() == nil {
			news(now)
		}
	}:
	case <-ctx.Done():
	}
}

// wait takes in what happened, all of it at once.
func (r *run) wait(ctx context.Context, longest time.Duration) {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case news := <-r.events:
		news(time.Now())
		for range len(r.events) {
			(<-r.events)(time.Now())
		}
	}
}
