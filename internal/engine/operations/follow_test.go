package operations_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
)

// The API server is unreachable for a while during a watch: the follower reports since when, and
// then the changes that it has missed.
func TestFollowOutlivesTheAPIServer(t *testing.T) {
	objects := operationstest.NewClient(t, &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "op"}})
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		var stream atomic.Pointer[watch.Interface]
		flaky := interceptor.NewClient(objects, interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if away.Load() {
					return errors.New("connection refused")
				}
				return c.List(ctx, list, options...)
			},
			Watch: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
				w, err := c.Watch(ctx, list, options...)
				if _, ok := list.(*refitv1alpha1.ClusterUpgradeList); ok {
					stream.Store(&w)
				}
				return w, err
			},
		})
		begun := time.Now()
		var reports []cliv1alpha1.Operation
		report := func(o *cliv1alpha1.Operation, _ time.Time) error {
			reports = append(reports, *o)
			switch {
			case len(reports) == 1: // it becomes unreachable at once
				away.Store(true)
				(*stream.Load()).Stop()
			case !o.UnreachableSince.IsZero() && time.Since(begun) > 10*time.Second:
				succeed(t, objects, "op")
				away.Store(false)
			}
			return nil
		}
		f := &operations.Follower{Cluster: &operations.Cluster{Client: flaky, Name: "prod", Now: time.Now}, Operation: "op", Report: report}
		last, err := f.Follow(t.Context())
		if err != nil || !last.Ended || !last.UnreachableSince.IsZero() {
			t.Fatalf("%+v, %v", last, err)
		}
		if took := time.Since(begun); took > 10*time.Second+operations.MaxBackoff+operations.RefreshInterval {
			t.Errorf("it heard of the end after %s", took)
		}
		seen := 0
		for _, o := range reports {
			if !o.UnreachableSince.IsZero() {
				seen++
				if o.UnreachableError != "connection refused" || o.UnreachableSince.Sub(begun) > time.Second {
					t.Errorf("away since %s: %s", o.UnreachableSince, o.UnreachableError)
				}
			}
		}
		if seen < 9 {
			t.Errorf("in ten seconds it told only %d times that the API is away", seen)
		}
	})
}

// succeed ends an operation, as the controllers do.
func succeed(t *testing.T, objects client.Client, name string) {
	t.Helper()
	u := &refitv1alpha1.ClusterUpgrade{}
	if err := objects.Get(t.Context(), client.ObjectKey{Name: name}, u); err != nil {
		t.Fatal(err)
	}
	u.Status.Phase = refitv1alpha1.PhaseSucceeded
	meta.SetStatusCondition(&u.Status.Conditions, metav1.Condition{
		Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: refitv1alpha1.ReasonSucceeded,
	})
	if err := objects.Status().Update(t.Context(), u); err != nil {
		t.Fatal(err)
	}
}
