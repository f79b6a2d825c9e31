package operations

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// watchOperation keeps the operation up to date. It is the one that reports that the API server is
// reachable: what it has read is current again.
func (f *Follower) watchOperation(ctx context.Context, l *link, changes chan<- func(*observation)) {
	var found *refitv1alpha1.ClusterUpgrade
	l.keep(ctx, &copied{
		list:    func() client.ObjectList { return &refitv1alpha1.ClusterUpgradeList{} },
		options: []client.ListOption{client.MatchingFields{"metadata.name": f.Operation}},
		begin:   func() { found = nil },
		item: func(object client.Object) {
			if operation, ok := object.(*refitv1alpha1.ClusterUpgrade); ok {
				found = operation
			}
		},
		end: func(read time.Time) {
			operation := found
			send(ctx, changes, func(s *observation) {
				s.unreachableSince, s.unreachable, s.answered, s.deleted = time.Time{}, "", read, operation == nil
				if !s.deleted {
					s.operation = operation
				}
			})
		},
		change: func(object client.Object, deleted bool) {
			if operation, ok := object.(*refitv1alpha1.ClusterUpgrade); ok && operation.Name == f.Operation {
				send(ctx, changes, func(s *observation) { s.operation, s.deleted = operation, deleted })
			}
		},
		failed: func(at time.Time, err error) { send(ctx, changes, func(s *observation) { s.failed(at, err) }) },
	})
}

// watchOrders keeps the orders to nodes up to date.
func (f *Follower) watchOrders(ctx context.Context, l *link, changes chan<- func(*observation)) {
	var found map[string]*refitv1alpha1.NodeUpgrade
	l.keep(ctx, &copied{
		list:    func() client.ObjectList { return &refitv1alpha1.NodeUpgradeList{} },
		perPage: ordersPerPage,
		begin:   func() { found = map[string]*refitv1alpha1.NodeUpgrade{} },
		item: func(object client.Object) {
			if order, ok := object.(*refitv1alpha1.NodeUpgrade); ok {
				found[order.Name] = order
			}
		},
		end: func(time.Time) {
			all := found
			send(ctx, changes, func(s *observation) { s.orders = all })
		},
		change: func(object client.Object, deleted bool) {
			order, ok := object.(*refitv1alpha1.NodeUpgrade)
			if !ok {
				return
			}
			send(ctx, changes, func(s *observation) {
				if delete(s.orders, order.Name); !deleted {
					s.orders[order.Name] = order
				}
			})
		},
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

func send(ctx context.Context, changes chan<- func(*observation), change func(*observation)) {
	select {
	case changes <- change:
	case <-ctx.Done():
	}
}
