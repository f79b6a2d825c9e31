package operations

import (
	"context"
	"fmt"
	"sync"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

const (
	// batchInterval is how long changes are collected: of thousands of nodes, many change at once.
	batchInterval = 100 * time.Millisecond
	// refreshInterval is how often progress is reported although nothing has changed.
	refreshInterval = time.Second
)

// Follower follows one operation until it ends. It watches, so that its reports are almost current,
// and continues after the API server was unreachable for a while. A probe reports that it is, also
// if it accepts requests and does not answer them.
type Follower struct {
	*Cluster

	Operation string
	// Report receives the progress. It may be the same as before, except for the time.
	Report func(o *cliv1alpha1.Operation, now time.Time) error
	// Finalized waits until the controllers have removed their finalizer from an operation that
	// ended. No other process removes it.
	Finalized bool
}

// Follow returns the operation as it ended. It ends early with the context, and then returns the
// last progress.
func (f *Follower) Follow(ctx context.Context) (*cliv1alpha1.Operation, error) {
	ctx, cancel := context.WithCancel(ctx)
	changes := make(chan func(*observation))
	var watches sync.WaitGroup
	l := newLink(ctx, f.Cluster)
	watches.Go(func() { f.watchOperation(ctx, l, changes) })
	watches.Go(func() { f.watchOrders(ctx, l, changes) })
	watches.Go(func() {
		l.probe(ctx, f.readMetadata, func(started time.Time, err error) {
			if err != nil { // that it is reachable again shows the watch
				send(ctx, changes, func(s *observation) { s.failed(started, err) })
			}
		})
	})
	defer watches.Wait()
	defer cancel()
	seen := &observation{orders: map[string]*refitv1alpha1.NodeUpgrade{}}
	ticker := time.NewTicker(refreshInterval)
	defer ticker.Stop()
	var last *cliv1alpha1.Operation
	for {
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-ticker.C:
		case change := <-changes:
			change(seen)
			seen.collect(ctx, changes)
		}
		if seen.deleted {
			return last, fmt.Errorf("the operation %s was deleted while it was followed", f.Operation)
		}
		if seen.operation == nil {
			continue // nothing was read yet
		}
		last = seen.progress(f.Name, f.Now())
		if err := f.Report(last, f.Now()); err != nil {
			return last, err
		}
		if last.Ended && (!f.Finalized || len(seen.operation.Finalizers) == 0) {
			return last, nil
		}
	}
}

// observation is the state that a follower has read.
type observation struct {
	operation *refitv1alpha1.ClusterUpgrade
	deleted   bool
	orders    map[string]*refitv1alpha1.NodeUpgrade

	answered         time.Time // when the operation was last listed
	unreachableSince time.Time // zero: the API server responds
	unreachable      string    // why
}

// collect applies the changes of one batch.
func (s *observation) collect(ctx context.Context, changes <-chan func(*observation)) {
	timer := time.NewTimer(batchInterval)
	defer timer.Stop()
	for {
		select {
		case change := <-changes:
			change(s)
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (s *observation) progress(cluster string, now time.Time) *cliv1alpha1.Operation {
	orders := make([]*refitv1alpha1.NodeUpgrade, 0, len(s.orders))
	for _, order := range s.orders {
		orders = append(orders, order)
	}
	o := progress.NewOperation(cluster, s.operation, orders, now)
	if !s.unreachableSince.IsZero() {
		o.UnreachableSince, o.UnreachableError = s.unreachableSince.UTC(), s.unreachable
	}
	return o
}
