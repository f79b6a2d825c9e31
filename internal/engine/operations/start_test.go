package operations_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
)

// Many users who start the same upgrade at the same moment create one operation.
func TestConcurrentStartsCreateOneOperation(t *testing.T) {
	cluster := &operations.Cluster{Client: operationstest.NewClient(t), Name: "prod", Now: time.Now}
	spec := refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, _, err := cluster.Start(t.Context(), spec, "sha256:"+strings.Repeat("0", 64)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := cluster.List(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("%d operations, %v", len(got), err)
	}
}
