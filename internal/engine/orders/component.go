package orders

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/orders"
)

// ComponentOrder is what an operation requires of one component.
type ComponentOrder = orders.ComponentOrder

// CurrentComponent returns the ComponentUpgrade of a component, and nil if it is not the one that
// was observed. For a component that has none it returns one that is not in the API yet.
func (w Writer) CurrentComponent(ctx context.Context, name string, observed *cluster.ComponentUpgrade) (*refitv1alpha1.ComponentUpgrade, error) {
	now := &refitv1alpha1.ComponentUpgrade{}
	err := w.Client.Get(ctx, types.NamespacedName{Name: name}, now)
	switch {
	case apierrors.IsNotFound(err) && observed == nil:
		return &refitv1alpha1.ComponentUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot get ComponentUpgrade %s: %w", name, err)
	case !orders.UnchangedComponent(now, observed):
		return nil, nil
	}
	return now, nil
}

// WriteComponent gives a component the next order of an operation. It fails with a conflict if
// current, which CurrentComponent returned, is no longer the order in the API.
func (w Writer) WriteComponent(
	ctx context.Context, current *refitv1alpha1.ComponentUpgrade, operation *refitv1alpha1.ClusterUpgrade, order ComponentOrder, at time.Time,
) error {
	current.Spec = orders.NewComponent(operation, order, current.Spec.Sequence, at)
	if current.ResourceVersion != "" {
		if err := w.Client.Update(ctx, current, w.FieldOwner); err != nil {
			return fmt.Errorf("cannot update ComponentUpgrade %s: %w", current.Name, err)
		}
		return nil
	}
	if err := w.Client.Create(ctx, current, w.FieldOwner); err != nil {
		return fmt.Errorf("cannot create ComponentUpgrade %s: %w", current.Name, err)
	}
	return nil
}
