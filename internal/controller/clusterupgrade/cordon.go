package clusterupgrade

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// cordon cordons a node, marks the cordon as the operation's, and protects the node. A node that is
// cordoned already is not marked, and so never uncordoned.
func (r *Reconciler) cordon(ctx context.Context, obs *observation, a *plan.Action) (bool, error) {
	return r.patchNode(ctx, obs, a, func(n *corev1.Node) bool {
		if n.Spec.Unschedulable {
			return false
		}
		n.Annotations = cluster.Protect(n.Annotations, string(obs.operation.UID))
		n.Annotations[refitv1alpha1.AnnotationCordonedBy], n.Spec.Unschedulable = string(obs.operation.UID), true
		return true
	})
}

// uncordon lifts the operation's own cordon, and no other, and ends its protection.
func (r *Reconciler) uncordon(ctx context.Context, obs *observation, a *plan.Action) (bool, error) {
	return r.patchNode(ctx, obs, a, func(n *corev1.Node) bool {
		if n.Annotations[refitv1alpha1.AnnotationCordonedBy] != string(obs.operation.UID) {
			return false
		}
		delete(n.Annotations, refitv1alpha1.AnnotationCordonedBy)
		n.Spec.Unschedulable = false
		if protectedBy(n) == obs.operation.UID {
			cluster.Unprotect(n.Annotations)
		}
		return true
	})
}

// protect keeps autoscalers from removing a node. It writes the annotations and the mark that the
// operation added them at once, so that neither is there without the other.
func (r *Reconciler) protect(ctx context.Context, obs *observation, a *plan.Action) (bool, error) {
	return r.patchNode(ctx, obs, a, func(n *corev1.Node) bool {
		n.Annotations = cluster.Protect(n.Annotations, string(obs.operation.UID))
		return true
	})
}

// unprotect removes what the operation added to keep autoscalers off, and nothing else.
func (r *Reconciler) unprotect(ctx context.Context, obs *observation, a *plan.Action) (bool, error) {
	return r.patchNode(ctx, obs, a, func(n *corev1.Node) bool {
		if protectedBy(n) != obs.operation.UID {
			return false
		}
		cluster.Unprotect(n.Annotations)
		return true
	})
}

// patchNode changes a node, if it is still as it was observed.
func (r *Reconciler) patchNode(ctx context.Context, obs *observation, a *plan.Action, change func(*corev1.Node) bool) (bool, error) {
	observed := obs.nodes[a.Node]
	if observed == nil {
		return false, nil
	}
	n := &corev1.Node{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: a.Node}, n); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if string(n.UID) != observed.UID || n.Spec.Unschedulable != observed.Unschedulable ||
		string(cordonedBy(n)) != observed.CordonedBy || string(protectedBy(n)) != observed.ProtectedBy {
		return false, nil
	}
	was := n.DeepCopy()
	if !change(n) {
		return false, nil
	}
	err := r.Client.Patch(ctx, n, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}), fieldOwner)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("cannot patch node: %w", err)
	}
	return err == nil, nil
}
