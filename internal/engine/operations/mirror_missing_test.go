package operations_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
)

// A cluster without CRDs answers that it does not know the kind.
func TestMirrorReportsWhetherRefitIsInstalled(t *testing.T) {
	var missing atomic.Bool
	objects := interceptor.NewClient(operationstest.NewClient(t), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, ok := list.(*refitv1alpha1.ClusterUpgradeList); ok && missing.Load() {
				return apierrors.NewNotFound(schema.GroupResource{Group: "refit.dev", Resource: "clusterupgrades"}, "")
			}
			return c.List(ctx, list, options...)
		},
	})
	synctest.Test(t, func(t *testing.T) {
		var changed atomic.Int32
		m := mirrorOf(objects, func(c operations.Changes) {
			if c.API {
				changed.Add(1)
			}
		})
		go m.Run(t.Context())
		for _, want := range []bool{true, false} {
			missing.Store(want)
			changed.Store(0)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			m.Read(func(c *operations.Copy) {
				if c.NotInstalled != want || (c.Gaps["ClusterUpgrades"] != "") != want {
					t.Errorf("not installed: %v, with the gaps %v; want %v", c.NotInstalled, c.Gaps, want)
				}
			})
			if changed.Load() == 0 {
				t.Error("the change is not reported")
			}
		}
	})
}
