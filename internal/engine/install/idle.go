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

// ErrBusy is returned by Apply and Remove while an operation is unfinished: the agents and the
// controller that execute it must not be replaced. Wait until it ends, or abort it.
var ErrBusy = errors.New("is unfinished")

// operationsPerPage is small because a ClusterUpgrade may have 144 KiB, and operations are kept
// after they end.
const operationsPerPage = 50

// CheckIdle fails while an operation is unfinished. Apply and Remove check it again.
func (c *Cluster) CheckIdle(ctx context.Context) error {
	options := metav1.ListOptions{Limit: operationsPerPage}
	for {
		page, err := c.objects.Resource(refitv1alpha1.GroupVersion.WithResource("clusterupgrades")).List(ctx, options)
		if apierrors.IsNotFound(err) {
			return nil // Refit is not installed
		}
		if err != nil {
			return fmt.Errorf("cannot list ClusterUpgrades: %w", err)
		}
		for i := range page.Items {
			var u refitv1alpha1.ClusterUpgrade
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(page.Items[i].Object, &u); err != nil {
				return fmt.Errorf("cannot read ClusterUpgrade %s: %w", page.Items[i].GetName(), err)
			}
			if !u.HasEnded() {
				return fmt.Errorf("operation %s %w: wait until it ends, or abort it: `refit abort %s`", u.Name, ErrBusy, u.Name)
			}
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}
