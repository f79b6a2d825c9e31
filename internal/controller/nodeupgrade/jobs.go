package nodeupgrade

import (
	"context"
	"sync"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// jobs are the active jobs of one kind, at most one per node.
type jobs[J comparable] struct {
	mu       sync.Mutex
	active   map[string]*activeJob[J]
	closed   bool
	routines sync.WaitGroup
}

type activeJob[J comparable] struct {
	job       J
	cancel    context.CancelFunc
	requested bool // again, since it was started
	ended     bool // and waits to be requeued
}

// sync makes the job that an order requests the only one of its kind on the node.
//
// A request that arrives while the same job ends would be lost, so requeue is called afterwards.
func (j *jobs[J]) sync(
	ctx context.Context, u *refitv1alpha1.NodeUpgrade, requestedBy func(*refitv1alpha1.NodeUpgrade) (J, bool),
	run func(context.Context, J), requeue func(ctx context.Context, node string),
) {
	wanted, ok := requestedBy(u)
	if !ok {
		j.stop(u.Name)
		return
	}
	if started, ctx := j.start(ctx, u.Name, wanted); started != nil {
		j.routines.Go(func() {
			defer started.cancel()
			run(ctx, wanted)
			if j.finish(u.Name, started) {
				requeue(ctx, u.Name)
				j.remove(u.Name, started)
			}
		})
	}
}

// has reports whether a job is active on a node.
func (j *jobs[J]) has(node string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.active[node] != nil
}

// start makes a job the active one of its node, and cancels the one before. It returns nil if the
// job is active already.
func (j *jobs[J]) start(ctx context.Context, node string, wanted J) (*activeJob[J], context.Context) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, nil
	}
	if former := j.active[node]; former != nil {
		if former.job == wanted && !former.ended {
			former.requested = true
			return nil, nil
		}
		former.cancel()
	}
	if j.active == nil {
		j.active = map[string]*activeJob[J]{}
	}
	// Not the request's context, which ends with Reconcile.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	started := &activeJob[J]{job: wanted, cancel: cancel}
	j.active[node] = started
	return started, ctx
}

// stop cancels the job on a node, if there is one.
func (j *jobs[J]) stop(node string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if a := j.active[node]; a != nil {
		a.cancel()
		delete(j.active, node)
	}
}

// finish marks a job as ended, and reports whether it was requested again meanwhile.
func (j *jobs[J]) finish(node string, a *activeJob[J]) (requested bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	a.ended = true
	if j.active[node] != a {
		return false
	}
	if !a.requested {
		delete(j.active, node)
	}
	return a.requested
}

// remove forgets a job, unless another one has replaced it.
func (j *jobs[J]) remove(node string, a *activeJob[J]) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.active[node] == a {
		delete(j.active, node)
	}
}

// shutDown cancels all jobs, waits for them and accepts no more.
func (j *jobs[J]) shutDown() {
	j.mu.Lock()
	j.closed = true
	for _, a := range j.active {
		a.cancel()
	}
	j.mu.Unlock()
	j.routines.Wait()
}

// sleep waits, or returns early when the context ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
