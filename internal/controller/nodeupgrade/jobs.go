package nodeupgrade

import (
	"context"
	"sync"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// jobs are the work of one kind that is under way, at most one of it on a node.
type jobs[J comparable] struct {
	mu      sync.Mutex
	under   map[string]*runningJob[J]
	ended   bool
	running sync.WaitGroup
}

type runningJob[J comparable] struct {
	job    J
	cancel context.CancelFunc
	again  bool // it was asked for once more
}

// sync sees to it that what an order asks for is under way, and nothing else of the kind on its node.
//
// Who asks once more for what is about to end would not be heard, so requeue is called then.
func (j *jobs[J]) sync(
	ctx context.Context, u *refitv1alpha1.NodeUpgrade, asked func(*refitv1alpha1.NodeUpgrade) (J, bool), do func(context.Context, J),
	requeue func(context.Context),
) {
	wanted, ok := asked(u)
	if !ok {
		j.stop(u.Name)
		return
	}
	j.ensure(ctx, u.Name, wanted, do, requeue)
}

// has says whether work on a node is under way.
func (j *jobs[J]) has(node string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.under[node] != nil
}

// stop ends the work on a node, if there is any.
func (j *jobs[J]) stop(node string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if w := j.under[node]; w != nil {
		w.cancel()
		delete(j.under, node)
	}
}

func (j *jobs[J]) ensure(ctx context.Context, node string, wanted J, do func(context.Context, J), requeue func(context.Context)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended {
		return
	}
	if w := j.under[node]; w != nil {
		if w.job == wanted {
			w.again = true
			return
		}
		w.cancel()
	}
	if j.under == nil {
		j.under = map[string]*runningJob[J]{}
	}
	// Not the request's context, which ends with it; end cancels.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &runningJob[J]{job: wanted, cancel: cancel}
	j.under[node] = w
	j.running.Go(func() {
		defer cancel()
		do(ctx, wanted)
		if j.finish(node, w) {
			requeue(ctx)
		}
	})
}

// finish takes out what has come to its end, and says whether somebody asked for it once more.
func (j *jobs[J]) finish(node string, w *runningJob[J]) (again bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.under[node] != w {
		return false
	}
	delete(j.under, node)
	return w.again && !j.ended
}

// shutDown ends all of it, for good.
func (j *jobs[J]) shutDown() {
	j.mu.Lock()
	j.ended = true
	for _, w := range j.under {
		w.cancel()
	}
	j.mu.Unlock()
	j.running.Wait()
}

// sleep waits, unless the work is over before.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
