package operations

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// An API server that is upgraded is back within seconds, so requests are short and retried soon.
const (
	requestTimeout = 5 * time.Second
	minBackoff     = 250 * time.Millisecond
	maxBackoff     = 2 * time.Second
)

// watchOperation keeps the operation up to date. It is the one that reports that the API server is
// reachable: what it has read is current again.
func (f *Follower) watchOperation(ctx context.Context, outages *outages, changes chan<- func(*observation)) {
	named := client.MatchingFields{"metadata.name": f.Operation}
	repeat(ctx, outages, func(ctx context.Context) error {
		var list refitv1alpha1.ClusterUpgradeList
		if err := f.list(ctx, &list, named); err != nil {
			if !errors.Is(context.Cause(ctx), errOutage) { // which the probe has reported
				send(ctx, changes, func(s *observation) { s.failed(f.Now(), err) })
			}
			return err
		}
		read := f.Now()
		send(ctx, changes, func(s *observation) {
			s.unreachableSince, s.unreachable, s.answered, s.deleted = time.Time{}, "", read, len(list.Items) == 0
			if !s.deleted {
				s.operation = &list.Items[0]
			}
		})
		return f.watch(ctx, &list, func(object client.Object, deleted bool) {
			if operation, ok := object.(*refitv1alpha1.ClusterUpgrade); ok && operation.Name == f.Operation {
				send(ctx, changes, func(s *observation) { s.operation, s.deleted = operation, deleted })
			}
		}, named)
	})
}

// watchOrders keeps the orders to nodes up to date.
func (f *Follower) watchOrders(ctx context.Context, outages *outages, changes chan<- func(*observation)) {
	repeat(ctx, outages, func(ctx context.Context) error {
		all := map[string]*refitv1alpha1.NodeUpgrade{}
		from := refitv1alpha1.NodeUpgradeList{}
		for token, more := "", true; more; more = token != "" {
			var page refitv1alpha1.NodeUpgradeList
			if err := f.list(ctx, &page, client.Limit(ordersPerPage), client.Continue(token)); err != nil {
				return err
			}
			for i := range page.Items {
				all[page.Items[i].Name] = &page.Items[i]
			}
			from.ResourceVersion, token = page.ResourceVersion, page.Continue // the same for all pages
		}
		send(ctx, changes, func(s *observation) { s.orders = all })
		return f.watch(ctx, &from, func(object client.Object, deleted bool) {
			order, ok := object.(*refitv1alpha1.NodeUpgrade)
			if !ok {
				return
			}
			send(ctx, changes, func(s *observation) {
				if delete(s.orders, order.Name); !deleted {
					s.orders[order.Name] = order
				}
			})
		})
	})
}

// failed records that the API server did not respond to a request that started at a time. A later
// one may have been answered already.
func (s *observation) failed(started time.Time, err error) {
	if started.Before(s.answered) {
		return
	}
	if s.unreachableSince.IsZero() {
		s.unreachableSince = started
	}
	s.unreachable = err.Error()
}

// repeat calls a function until the context ends, with a growing pause while it fails. An outage
// ends the function's own context.
func repeat(ctx context.Context, outages *outages, do func(context.Context) error) {
	for pause := minBackoff; ctx.Err() == nil; {
		if err := do(outages.next()); err == nil {
			pause = minBackoff
		} else {
			pause = min(2*pause, maxBackoff)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (f *Follower) list(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return f.Client.List(ctx, list, options...)
}

// errWatchEnded is a watch that the server ended with an error, such as an expired resourceVersion.
var errWatchEnded = errors.New("the watch ended")

// watch watches from the resourceVersion of a list until the stream ends.
func (f *Follower) watch(ctx context.Context, list client.ObjectList, handle func(object client.Object, deleted bool), options ...client.ListOption) error {
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}
	stream, err := f.Client.Watch(ctx, list, append(options, from)...)
	if err != nil {
		return err
	}
	defer stream.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, more := <-stream.ResultChan():
			if !more {
				return nil
			}
			object, ok := event.Object.(client.Object)
			if !ok || event.Type == watch.Error {
				return errWatchEnded
			}
			handle(object, event.Type == watch.Deleted)
		}
	}
}

func send(ctx context.Context, changes chan<- func(*observation), change func(*observation)) {
	select {
	case changes <- change:
	case <-ctx.Done():
	}
}
