package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// teller tells whoever follows an operation how far it is. What it is told may be the same as before, but for the time.
type teller interface {
	tell(o *cliv1alpha1.Operation, now time.Time) error
}

// How often a follower looks at what has changed at most, and how often it tells the time although nothing has.
const (
	settleFor = 100 * time.Millisecond
	tickEvery = time.Second
)

// follower follows one operation until it ends. It watches: what it tells is at most a moment old, and it outlives an API that goes away and comes back.
type follower struct {
	*operations
	name   string
	teller teller
	// released waits until the controllers have let go of an operation that ended: nobody does it after they are gone.
	released bool
}

// follow returns the operation as it ended. It ends early with the context, and then returns what was seen last.
func (f *follower) follow(ctx context.Context) (*cliv1alpha1.Operation, error) {
	ctx, cancel := context.WithCancel(ctx)
	changes := make(chan func(*sight))
	var watches sync.WaitGroup
	watches.Go(func() { f.watchOperation(ctx, changes) })
	watches.Go(func() { f.watchOrders(ctx, changes) })
	defer watches.Wait()
	defer cancel()
	seen := &sight{orders: map[string]*refitv1alpha1.NodeUpgrade{}}
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	var last *cliv1alpha1.Operation
	for {
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-ticker.C:
		case change := <-changes:
			change(seen)
			seen.gather(ctx, changes)
		}
		if seen.gone {
			return last, fmt.Errorf("the operation %s was deleted while it was followed", f.name)
		}
		if seen.operation == nil {
			continue // nothing was heard yet
		}
		last = seen.document(f.cluster, f.app.now())
		if err := f.teller.tell(last, f.app.now()); err != nil {
			return last, err
		}
		if last.Ended && (!f.released || len(seen.operation.Finalizers) == 0) {
			return last, nil
		}
	}
}

// sight is what a follower has seen.
type sight struct {
	operation *refitv1alpha1.ClusterUpgrade
	gone      bool
	orders    map[string]*refitv1alpha1.NodeUpgrade
	away      time.Time // since when the API does not answer
	why       string
}

// gather takes in what comes at almost the same moment: of five thousand nodes, many say something at once.
func (s *sight) gather(ctx context.Context, changes <-chan func(*sight)) {
	timer := time.NewTimer(settleFor)
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

func (s *sight) document(cluster string, now time.Time) *cliv1alpha1.Operation {
	orders := make([]*refitv1alpha1.NodeUpgrade, 0, len(s.orders))
	for _, order := range s.orders {
		orders = append(orders, order)
	}
	o := progress.NewOperation(cluster, s.operation, orders, now)
	if !s.away.IsZero() {
		o.UnreachableSince, o.UnreachableError = s.away.UTC(), s.why
	}
	return o
}
