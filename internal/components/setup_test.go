package components

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/helm"
)

func TestAnOrderIsRepeatedAfterALeaseThatWasRenewedLate(t *testing.T) {
	r, c := newWorld(t, frozen(refitv1alpha1.PermitApply))
	watching, ok := c.(client.WithWatch)
	if !ok {
		t.Fatalf("%T", c)
	}
	r.client = interceptor.NewClient(watching, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return fmt.Errorf("cannot get: %w", helm.ErrLeaseLost)
		},
	})
	w := &worker{queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Hour, time.Hour))}
	w.queue.Add(name)
	if err := r.Run(t.Context(), name); !errors.Is(err, helm.ErrLeaseLost) {
		t.Fatal(err)
	}
	if !w.next(t.Context(), r) || w.queue.NumRequeues(name) != 1 {
		t.Error("the order is forgotten")
	}
}
