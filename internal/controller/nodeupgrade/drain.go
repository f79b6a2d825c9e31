package nodeupgrade

import (
	"context"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/drain"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// manager is whose fields the controller's are.
const manager = client.FieldOwner("refit-controller")

const (
	// calm is the least time between two writes that tell of progress only.
	calm = time.Second
	// anew is when a drain that lacked a right is tried again.
	anew = 30 * time.Second
	// maxBlockers is how many a status may hold.
	maxBlockers = 5
)

// drain empties a node until it is empty or that is no longer wanted. A right that is missing is told of, and may be given meanwhile.
func (c *Controller) drain(ctx context.Context, wanted job) {
	for ctx.Err() == nil {
		err := c.drainOnce(ctx, wanted)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			c.insist(ctx, wanted, func(d *refitv1alpha1.DrainStatus) {
				at := metav1.NewTime(c.Now().UTC().Truncate(time.Second))
				d.Phase, d.FinishedAt, d.Remaining, d.Blockers = refitv1alpha1.DrainDrained, &at, 0, nil
			})
			return
		}
		ctrllog.FromContext(ctx).Error(err, "the node cannot be emptied", "node", wanted.node, "sequence", wanted.sequence)
		c.insist(ctx, wanted, func(d *refitv1alpha1.DrainStatus) {
			d.Phase = refitv1alpha1.DrainBlocked
			d.Blockers = []refitv1alpha1.Blocker{{Pod: "*", Reason: refitv1alpha1.Clip(err.Error(), 128)}}
		})
		select {
		case <-ctx.Done():
		case <-time.After(anew):
		}
	}
}

// drainOnce empties a node, and writes down how far that is meanwhile.
func (c *Controller) drainOnce(ctx context.Context, wanted job) error {
	news := &latest{wake: make(chan struct{}, 1)}
	telling, stop := context.WithCancel(ctx)
	var teller sync.WaitGroup
	teller.Go(func() { c.tell(telling, wanted, news) })
	defer teller.Wait()
	defer stop()
	return c.Drainer.Drain(ctx, drain.Order{Node: wanted.node, Delete: wanted.delete, Lose: c.mayLose(ctx, wanted)}, news.put)
}

// mayLose are the pods that nobody makes anew and that a person waived by name.
func (c *Controller) mayLose(ctx context.Context, wanted job) func(namespace, name string) bool {
	operation := &refitv1alpha1.ClusterUpgrade{}
	if err := c.Live.Get(ctx, types.NamespacedName{Name: wanted.operation}, operation); err != nil {
		return nil // then nothing may
	}
	return func(namespace, name string) bool { return policy.MayLose(&operation.Spec, namespace, name) }
}

// tell writes progress down, the newest only, and not too often.
func (c *Controller) tell(ctx context.Context, wanted job, news *latest) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-news.wake:
		}
		p := news.get()
		c.insist(ctx, wanted, func(d *refitv1alpha1.DrainStatus) {
			d.Phase, d.Remaining, d.Blockers = refitv1alpha1.DrainDraining, p.Remaining, p.Blockers[:min(len(p.Blockers), maxBlockers)]
			if !p.Moving && len(p.Blockers) > 0 {
				d.Phase = refitv1alpha1.DrainBlocked
			}
		})
		select {
		case <-ctx.Done():
			return
		case <-time.After(calm):
		}
	}
}

// insist changes the drain's status, until it is written or no longer this drain's.
func (c *Controller) insist(ctx context.Context, wanted job, change func(*refitv1alpha1.DrainStatus)) {
	for pause := 100 * time.Millisecond; ctx.Err() == nil; pause = min(2*pause, 10*time.Second) {
		err := c.write(ctx, wanted, change)
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			ctrllog.FromContext(ctx).Info("the drain cannot be told of now", "node", wanted.node, "error", err.Error())
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (c *Controller) write(ctx context.Context, wanted job, change func(*refitv1alpha1.DrainStatus)) error {
	u := &refitv1alpha1.NodeUpgrade{}
	if err := c.Live.Get(ctx, types.NamespacedName{Name: wanted.node}, u); err != nil {
		return client.IgnoreNotFound(err)
	}
	if now, ok := jobOf(u); !ok || now != wanted {
		return nil
	}
	was := u.DeepCopy()
	change(u.Status.Drain)
	if reflect.DeepEqual(was.Status.Drain, u.Status.Drain) {
		return nil
	}
	return c.Live.Status().Patch(ctx, u, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}), manager)
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
