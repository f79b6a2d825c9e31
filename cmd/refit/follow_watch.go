package main

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// How long one question may take, and how long to wait after one that failed: an API server that is swapped is back within seconds.
const (
	askWithin  = 5 * time.Second
	askAgain   = 250 * time.Millisecond
	askAgainAt = 2 * time.Second // at the latest
)

// watchOperation keeps the operation up to date. It is the one that tells whether the API is there.
func (f *follower) watchOperation(ctx context.Context, changes chan<- func(*sight)) {
	named := client.MatchingFields{"metadata.name": f.name}
	f.again(ctx, func() error {
		var list refitv1alpha1.ClusterUpgradeList
		if err := f.ask(ctx, &list, named); err != nil {
			send(ctx, changes, func(s *sight) { s.missed(f.app.now(), err) })
			return err
		}
		send(ctx, changes, func(s *sight) {
			s.away, s.why, s.gone = time.Time{}, "", len(list.Items) == 0
			if !s.gone {
				s.operation = &list.Items[0]
			}
		})
		return f.hear(ctx, &list, func(object client.Object, deleted bool) {
			if operation, ok := object.(*refitv1alpha1.ClusterUpgrade); ok && operation.Name == f.name {
				send(ctx, changes, func(s *sight) { s.operation, s.gone = operation, deleted })
			}
		}, named)
	})
}

// watchOrders keeps the orders to nodes up to date.
func (f *follower) watchOrders(ctx context.Context, changes chan<- func(*sight)) {
	f.again(ctx, func() error {
		all := map[string]*refitv1alpha1.NodeUpgrade{}
		from := refitv1alpha1.NodeUpgradeList{}
		for token, more := "", true; more; more = token != "" {
			var page refitv1alpha1.NodeUpgradeList
			if err := f.ask(ctx, &page, client.Limit(ordersPerPage), client.Continue(token)); err != nil {
				return err
			}
			for i := range page.Items {
				all[page.Items[i].Name] = &page.Items[i]
			}
			from.ResourceVersion, token = page.ResourceVersion, page.Continue // it is that of the first page
		}
		send(ctx, changes, func(s *sight) { s.orders = all })
		return f.hear(ctx, &from, func(object client.Object, deleted bool) {
			order, ok := object.(*refitv1alpha1.NodeUpgrade)
			if !ok {
				return
			}
			send(ctx, changes, func(s *sight) {
				if delete(s.orders, order.Name); !deleted {
					s.orders[order.Name] = order
				}
			})
		})
	})
}

// missed notes that the API did not answer.
func (s *sight) missed(now time.Time, err error) {
	if s.away.IsZero() {
		s.away = now
	}
	s.why = err.Error()
}

// again does something until the context ends; after an error it waits a moment first.
func (f *follower) again(ctx context.Context, do func() error) {
	for pause := askAgain; ctx.Err() == nil; {
		if err := do(); err == nil {
			pause = askAgain
		} else {
			pause = min(2*pause, askAgainAt)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (f *follower) ask(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return f.List(ctx, list, options...)
}

// errUnheard is a watch that the server ended with an error, such as one from too long ago.
var errUnheard = errors.New("the watch ended")

// hear watches from where a list was read, until the stream ends.
func (f *follower) hear(ctx context.Context, list client.ObjectList, heard func(object client.Object, deleted bool), options ...client.ListOption) error {
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}
	stream, err := f.Watch(ctx, list, append(options, from)...)
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
				return errUnheard
			}
			heard(object, event.Type == watch.Deleted)
		}
	}
}

func send(ctx context.Context, changes chan<- func(*sight), change func(*sight)) {
	select {
	case changes <- change:
	case <-ctx.Done():
	}
}
