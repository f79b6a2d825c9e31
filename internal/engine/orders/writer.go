package orders

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/orders"
)

// Writer writes orders.
type Writer struct {
	// Client reads from the API itself: a cache may not have the last order yet.
	Client client.Client
	// FieldOwner owns the fields of orders.
	FieldOwner client.FieldOwner
}

// Current returns the NodeUpgrade of a node, and nil if it is not the one that was observed. For a
// node that has none it returns one that is not in the API yet.
func (w Writer) Current(ctx context.Context, n *cluster.Node) (*refitv1alpha1.NodeUpgrade, error) {
	now := &refitv1alpha1.NodeUpgrade{}
	err := w.Client.Get(ctx, types.NamespacedName{Name: n.Name}, now)
	switch {
	case apierrors.IsNotFound(err) && n.Upgrade == nil:
		return &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}, nil
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot get NodeUpgrade %s: %w", n.Name, err)
	case !orders.Unchanged(now, n.Upgrade):
		return nil, nil
	}
	return now, nil
}

// Order is what an operation requires of one node.
type Order = orders.Order

// Write gives a node the next order of an operation. It fails with a conflict if current, which
// Current returned, is no longer the order in the API.
func (w Writer) Write(
	ctx context.Context, current *refitv1alpha1.NodeUpgrade, operation *refitv1alpha1.ClusterUpgrade, n *cluster.Node, order Order, at time.Time,
) error {
	current.Spec = orders.New(operation, n, order, current.Spec.Sequence, at)
	return w.put(ctx, current, n, at)
}

// WriteBackup gives a node the order to take an attempt of an EtcdBackup. It fails with a conflict
// if current, which Current returned, is no longer the order in the API.
func (w Writer) WriteBackup(ctx context.Context, current *refitv1alpha1.NodeUpgrade, n *cluster.Node, ref refitv1alpha1.BackupRef, at time.Time) error {
	current.Spec = orders.Backup(&current.Spec, n, ref, at)
	return w.put(ctx, current, n, at)
}

// put creates or updates the NodeUpgrade of a node.
func (w Writer) put(ctx context.Context, current *refitv1alpha1.NodeUpgrade, n *cluster.Node, at time.Time) error {
	// Set again with every order: a node that joined again has another UID.
	current.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: types.UID(n.UID)}}
	if current.ResourceVersion != "" {
		return w.update(ctx, current)
	}
	if err := w.Client.Create(ctx, current, w.FieldOwner); err != nil {
		return fmt.Errorf("cannot create NodeUpgrade %s: %w", current.Name, err)
	}
	return w.setPending(ctx, current, at)
}

// setPending writes the conditions of a new order. A conflict means that the agent was first.
func (w Writer) setPending(ctx context.Context, current *refitv1alpha1.NodeUpgrade, at time.Time) error {
	if !orders.SetPending(current, at) {
		return nil
	}
	err := w.Client.Status().Update(ctx, current, w.FieldOwner)
	if err != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("cannot write the status of NodeUpgrade %s: %w", current.Name, err)
	}
	return nil
}

// Hold stops the order of a NodeUpgrade. It fails with a conflict if that is no longer the order in
// the API.
func (w Writer) Hold(ctx context.Context, current *refitv1alpha1.NodeUpgrade) error {
	current.Spec = orders.Held(&current.Spec)
	return w.update(ctx, current)
}

func (w Writer) update(ctx context.Context, current *refitv1alpha1.NodeUpgrade) error {
	if err := w.Client.Update(ctx, current, w.FieldOwner); err != nil {
		return fmt.Errorf("cannot update NodeUpgrade %s: %w", current.Name, err)
	}
	return nil
}
