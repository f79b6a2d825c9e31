package clusterupgrade

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/orders"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// patchNodeUpgrade changes the controller's part of a NodeUpgrade's status, if the NodeUpgrade is
// still as it was observed.
func (r *Reconciler) patchNodeUpgrade(
	ctx context.Context, obs *observation, a *plan.Action, change func(*refitv1alpha1.NodeUpgrade) bool,
) (bool, error) {
	n := obs.nodes[a.Node]
	u := &refitv1alpha1.NodeUpgrade{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: a.Node}, u); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if n == nil || !orders.Unchanged(u, n.Upgrade) {
		return false, nil
	}
	was := u.DeepCopy()
	if !change(u) {
		return false, nil
	}
	if a.Delete && !r.specUnchanged(ctx, obs.operation) {
		return false, nil
	}
	if err := r.Client.Status().Patch(ctx, u, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}), fieldOwner); err != nil {
		return false, fmt.Errorf("cannot patch the status of NodeUpgrade: %w", err)
	}
	return true, nil
}

// specUnchanged is the last check before pods are deleted despite their PodDisruptionBudgets: the
// user may have changed the policy that allows it.
func (r *Reconciler) specUnchanged(ctx context.Context, read *refitv1alpha1.ClusterUpgrade) bool {
	operation := &refitv1alpha1.ClusterUpgrade{}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(read), operation)
	return err == nil && operation.UID == read.UID && operation.Generation == read.Generation
}

// timestamp is now, as statuses hold it.
func (r *Reconciler) timestamp() *metav1.Time {
	t := metav1.NewTime(r.Now().UTC().Truncate(time.Second))
	return &t
}
