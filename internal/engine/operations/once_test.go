package operations_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
)

func TestStartsWithOneKeyCreateOneOperation(t *testing.T) {
	cluster := &operations.Cluster{Client: operationstest.NewClient(t), Name: "prod", Now: time.Now}
	spec := refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}}
	plan, once := "sha256:"+strings.Repeat("0", 64), operations.Once{Key: "key", Request: "request"}
	var all sync.WaitGroup
	var created atomic.Int32
	for range 50 {
		all.Go(func() {
			u, is, err := cluster.StartOnce(t.Context(), spec, plan, once)
			if err != nil || u.Name != "to-v1-36-3" {
				t.Error(err)
			}
			if is {
				created.Add(1)
			}
		})
	}
	all.Wait()
	if got, err := cluster.List(t.Context()); err != nil || len(got) != 1 || created.Load() != 1 {
		t.Errorf("%d operations, %d were created, %v", len(got), created.Load(), err)
	}

	if _, _, err := cluster.StartOnce(t.Context(), spec, plan, operations.Once{Key: "key", Request: "another"}); !errors.Is(err, operations.ErrKeyReused) {
		t.Errorf("the same key for another request: %v", err)
	}
	_, _, err := cluster.StartOnce(t.Context(), spec, plan, operations.Once{Key: "another", Request: "request"})
	if active, is := errors.AsType[operations.InProgressError](err); !is || active.Operation != "to-v1-36-3" {
		t.Errorf("another key for the same upgrade: %v", err)
	}

	u := &refitv1alpha1.ClusterUpgrade{}
	u.Name = "to-v1-36-3"
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(u), u); err != nil {
		t.Fatal(err)
	}
	u.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: refitv1alpha1.ReasonSucceeded, LastTransitionTime: metav1.Now()}}
	if err := cluster.Client.Status().Update(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if again, is, err := cluster.StartOnce(t.Context(), spec, plan, once); err != nil || is || again.Name != u.Name {
		t.Errorf("the key of an operation that has ended: %+v, %v", again, err)
	}
	if next, is, err := cluster.StartOnce(t.Context(), spec, plan, operations.Once{Key: "another", Request: "request"}); err != nil || !is || next.Name != "to-v1-36-3-2" {
		t.Errorf("another key after the end: %+v, %v", next, err)
	}
}
