package nodeupgrade

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// flakyReader returns an operation with a waiver, or an error.
type flakyReader struct {
	client.Reader

	err error
}

func (f *flakyReader) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if u, is := o.(*refitv1alpha1.ClusterUpgrade); is && f.err == nil {
		u.Spec.Waivers = []refitv1alpha1.Waiver{{Check: policy.CheckUnmanaged, Object: "Pod shop/cart", Reason: "it is a test"}}
	}
	return f.err
}

func TestAFailedReadDoesNotWithdrawAWaiver(t *testing.T) {
	reader := &flakyReader{}
	waived := (&Reconciler{Cache: reader}).waived(t.Context(), drainJob{operation: "night"})
	if !waived("shop", "cart") {
		t.Fatal("the waiver is ignored")
	}
	reader.err = errors.New("the cache is not started")
	if !waived("shop", "cart") || waived("shop", "till") {
		t.Error("a failed read changes what is waived")
	}
	reader.err = apierrors.NewNotFound(schema.GroupResource{Resource: "clusterupgrades"}, "night")
	if waived("shop", "cart") {
		t.Error("the waiver of a deleted operation still applies")
	}
}
