package install

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// ErrBusy is an install or a removal in the midst of an operation: what carries the operation out must not be replaced under it. Let the operation end, or
// abort it.
var ErrBusy = errors.New("is unfinished")

// operationsPerPage is small because a ClusterUpgrade may have 128 KiB, and those that ended stay.
const operationsPerPage = 50

// refuseBusy refuses while an operation is unfinished.
func (c *Cluster) refuseBusy(ctx context.Context) error {
	options := metav1.ListOptions{Limit: operationsPerPage}
	for {
		page, err := c.objects.Resource(refitv1alpha1.GroupVersion.WithResource("clusterupgrades")).List(ctx, options)
		if apierrors.IsNotFound(err) {
			return nil // Refit is not installed
		}
		if err != nil {
			return fmt.Errorf("looking whether an operation is unfinished: %w", err)
		}
		for i := range page.Items {
			var u refitv1alpha1.ClusterUpgrade
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(page.Items[i].Object, &u); err != nil {
				return fmt.Errorf("reading the operation %s: %w", page.Items[i].GetName(), err)
			}
			if !u.HasEnded() {
				return fmt.Errorf("the operation %s %w: let it end, or abort it (kubectl patch clusterupgrade %s --type merge -p '%s')",
					u.Name, ErrBusy, u.Name, `{"spec":{"aborted":true}}`)
			}
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}
