package nodeupgrade

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/drain"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

const (
	// minStatusInterval is the least time between two writes that tell of progress only.
	minStatusInterval = time.Second
	// drainRetryInterval is when a drain that lacked a right is tried again.
	drainRetryInterval = 30 * time.Second
	// maxBlockers is how many a status may hold.
	maxBlockers = 5
)

// drainJob is which node is emptied, and how.
type drainJob struct {
	node      string
	nodeUID   types.UID
	sequence  int64
	operation string
	delete    bool
}

// drainOf is the drain that an order asks for, if it does.
func drainOf(u *refitv1alpha1.NodeUpgrade) (drainJob, bool) {
	d := u.Status.Drain
	if d == nil || d.Sequence != u.Spec.Sequence || (d.Phase != refitv1alpha1.DrainDraining && d.Phase != refitv1alpha1.DrainBlocked) {
		return drainJob{}, false
	}
	return drainJob{node: u.Name, nodeUID: u.Spec.NodeUID, sequence: d.Sequence, operation: u.Spec.Operation.Name, delete: d.Delete}, true
}

// runDrain empties a node until it is empty or that is no longer wanted. A right that is missing is told of, and may be given meanwhile.
func (r *Reconciler) runDrain(ctx context.Context, wanted drainJob) {
	for ctx.Err() == nil {
		err := r.drainOnce(ctx, wanted)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			ours := false
			r.patchDrain(ctx, wanted, func(d *refitv1alpha1.DrainStatus) {
				at := metav1.NewTime(r.Now().UTC().Truncate(time.Second))
				d.Phase, d.CompletionTime, d.Remaining, d.Blockers, ours = refitv1alpha1.DrainDrained, &at, 0, nil, true
			})
			if ours {
				r.recordDrained(wanted)
			}
			return
		}
		ctrllog.FromContext(ctx).Error(err, "the node cannot be emptied", "node", wanted.node, "sequence", wanted.sequence)
		r.patchDrain(ctx, wanted, func(d *refitv1alpha1.DrainStatus) {
			d.Phase = refitv1alpha1.DrainBlocked
			d.Blockers = []refitv1alpha1.Blocker{{Pod: "*", Reason: refitv1alpha1.Clip(err.Error(), 128)}}
		})
		sleep(ctx, drainRetryInterval)
	}
}

// recordDrained tells on the node that it is empty.
func (r *Reconciler) recordDrained(wanted drainJob) {
	about := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: wanted.node, UID: wanted.nodeUID}}
	r.Recorder.Eventf(about, nil, corev1.EventTypeNormal, "Drained", "Drain", "no pod is left that has to move")
}

// drainOnce empties a node, and writes down how far that is meanwhile.
func (r *Reconciler) drainOnce(ctx context.Context, wanted drainJob) error {
	news := &latest{wake: make(chan struct{}, 1)}
	telling, stop := context.WithCancel(ctx)
	var teller sync.WaitGroup
	teller.Go(func() { r.reportProgress(telling, wanted, news) })
	defer teller.Wait()
	defer stop()
	refused := int64(0)
	return r.Drainer.Drain(ctx, drain.Order{Node: wanted.node, Delete: wanted.delete, Lose: r.mayEvictForGood(ctx, wanted)}, func(p drain.Progress) {
		r.CountRefusedEvictions(p.Refused - refused)
		refused = p.Refused
		news.put(p)
	})
}

// mayEvictForGood are the pods that nobody makes anew and that a person waived by name.
func (r *Reconciler) mayEvictForGood(ctx context.Context, wanted drainJob) func(namespace, name string) bool {
	operation := &refitv1alpha1.ClusterUpgrade{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: wanted.operation}, operation); err != nil {
		return nil // then nothing may
	}
	return func(namespace, name string) bool { return policy.MayLose(&operation.Spec, namespace, name) }
}

// reportProgress writes progress down, the newest only, and not too often.
func (r *Reconciler) reportProgress(ctx context.Context, wanted drainJob, news *latest) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-news.wake:
		}
		sleep(ctx, minStatusInterval) // most drains have nothing to tell after a moment but that they are done
		p := news.get()
		r.patchDrain(ctx, wanted, func(d *refitv1alpha1.DrainStatus) {
			d.Phase, d.Remaining, d.Blockers = refitv1alpha1.DrainDraining, p.Remaining, p.Blockers[:min(len(p.Blockers), maxBlockers)]
			if !p.Moving && len(p.Blockers) > 0 {
				d.Phase = refitv1alpha1.DrainBlocked
			}
		})
	}
}

// patchDrain changes the drain's status, unless it is no longer this drain's.
func (r *Reconciler) patchDrain(ctx context.Context, wanted drainJob, change func(*refitv1alpha1.DrainStatus)) {
	r.patchStatus(ctx, wanted.node, func(u *refitv1alpha1.NodeUpgrade) {
		if now, ok := drainOf(u); ok && now == wanted {
			change(u.Status.Drain)
		}
	})
}

// latest holds the newest progress.
type latest struct {
	mu       sync.Mutex
	progress drain.Progress
	wake     chan struct{}
}

func (l *latest) put(p drain.Progress) {
	l.mu.Lock()
	l.progress = p
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *latest) get() drain.Progress {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.progress
}
