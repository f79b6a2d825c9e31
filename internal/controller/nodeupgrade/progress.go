package nodeupgrade

import (
	"context"
	"sync"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/drain"
)

// minStatusInterval is the least time between two writes of a drain's progress. Most drains have
// nothing more to report after it than that they are done.
const minStatusInterval = time.Second

// reporter writes the progress of one drain into its NodeUpgrade: the newest only, not too often.
type reporter struct {
	mu     sync.Mutex
	latest drain.Progress

	changed chan struct{} // holds one signal
	stop    func()        // returns when nothing more is written
}

func (r *Reconciler) startReporter(ctx context.Context, job drainJob) *reporter {
	ctx, cancel := context.WithCancel(ctx)
	out := &reporter{changed: make(chan struct{}, 1)}
	var routine sync.WaitGroup
	routine.Go(func() { r.reportProgress(ctx, job, out) })
	out.stop = func() {
		cancel()
		routine.Wait()
	}
	return out
}

func (r *Reconciler) reportProgress(ctx context.Context, job drainJob, from *reporter) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-from.changed:
		}
		sleep(ctx, minStatusInterval)
		p := from.get()
		r.patchDrain(ctx, job, func(d *refitv1alpha1.DrainStatus) {
			d.Phase, d.Remaining = refitv1alpha1.DrainDraining, p.Remaining
			d.Blockers = p.Blockers[:min(len(p.Blockers), refitv1alpha1.MaxBlockers)]
			if !p.Progressing && len(p.Blockers) > 0 {
				d.Phase = refitv1alpha1.DrainBlocked
			}
		})
	}
}

func (r *reporter) put(p drain.Progress) {
	r.mu.Lock()
	r.latest = p
	r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

func (r *reporter) get() drain.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latest
}
