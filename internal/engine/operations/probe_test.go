package operations_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
)

// frozen is an API server that accepts requests and does not answer them, and whose watches stay
// open without events.
type frozen struct {
	client.WithWatch

	now     atomic.Bool
	redials atomic.Int64
}

func (f *frozen) Redial() { f.redials.Add(1) }

func freezable(objects client.WithWatch) *frozen {
	f := &frozen{}
	hang := func(ctx context.Context) error {
		if !f.now.Load() {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
	f.WithWatch = interceptor.NewClient(objects, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := hang(ctx); err != nil {
				return err
			}
			return c.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if err := hang(ctx); err != nil {
				return err
			}
			return c.List(ctx, list, options...)
		},
		Watch: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
			stream, err := c.Watch(ctx, list, options...)
			if err != nil {
				return nil, err
			}
			return &silenced{Interface: stream, events: f.pass(ctx, stream)}, nil
		},
	})
	return f
}

// pass returns the events of a watch, without those during the freeze.
func (f *frozen) pass(ctx context.Context, stream watch.Interface) <-chan watch.Event {
	events := make(chan watch.Event)
	go func() {
		defer close(events)
		for event := range stream.ResultChan() {
			if f.now.Load() {
				continue
			}
			select {
			case events <- event:
			case <-ctx.Done():
			}
		}
	}()
	return events
}

// silenced is a watch with other events.
type silenced struct {
	watch.Interface

	events <-chan watch.Event
}

func (s *silenced) ResultChan() <-chan watch.Event { return s.events }

func TestFollowReportsAnAPIServerThatHangs(t *testing.T) {
	objects := operationstest.NewClient(t, &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "op"}})
	synctest.Test(t, func(t *testing.T) {
		server := freezable(objects)
		const freezeAt, thawAt = 1300 * time.Millisecond, 60 * time.Second
		begun := time.Now()
		var noticed, ended time.Time
		var since time.Time
		report := func(o *cliv1alpha1.Operation, now time.Time) error {
			if noticed.IsZero() && !o.UnreachableSince.IsZero() {
				noticed, since = now, o.UnreachableSince
			}
			return nil
		}
		go func() {
			time.Sleep(freezeAt)
			server.now.Store(true)
			time.Sleep(thawAt - freezeAt)
			succeed(t, objects, "op") // its event is lost
			server.now.Store(false)
		}()
		f := &operations.Follower{Cluster: &operations.Cluster{Client: server, Name: "prod", Now: time.Now}, Operation: "op", Report: report}
		last, err := f.Follow(t.Context())
		ended = time.Now()
		if err != nil || !last.Ended || !last.UnreachableSince.IsZero() {
			t.Fatalf("%+v, %v", last, err)
		}
		if took := noticed.Sub(begun.Add(freezeAt)); noticed.IsZero() || took > 3*time.Second {
			t.Errorf("the outage was reported after %s", took)
		}
		if early := since.Sub(begun.Add(freezeAt)); early < 0 || early > time.Second {
			t.Errorf("unreachable since %s after it hung", early)
		}
		if took := ended.Sub(begun.Add(thawAt)); took > 2*operations.ProbeTimeout+operations.RefreshInterval {
			t.Errorf("the end was reported after %s", took)
		}
		if server.redials.Load() == 0 {
			t.Error("its connections were kept")
		}
	})
}

// A follower whose user may not get what it may list and watch is answered.
func TestFollowTakesARefusedProbeForAnAnswer(t *testing.T) {
	objects := operationstest.NewClient(t, &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "op"}})
	synctest.Test(t, func(t *testing.T) {
		refused := interceptor.NewClient(objects, interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "clusterupgrades"}, "op", nil)
			},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		report := func(o *cliv1alpha1.Operation, _ time.Time) error {
			if !o.UnreachableSince.IsZero() {
				t.Errorf("unreachable: %s", o.UnreachableError)
			}
			return nil
		}
		f := &operations.Follower{Cluster: &operations.Cluster{Client: refused, Name: "prod", Now: time.Now}, Operation: "op", Report: report}
		if last, _ := f.Follow(ctx); last == nil {
			t.Error("nothing was reported")
		}
	})
}
