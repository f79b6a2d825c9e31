package clusterupgrade

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// cordon cordons a node and marks the cordon as ours, or lifts one that is ours. Somebody else's cordon stays: a node that was cordoned already is not marked,
// and so never uncordoned.
func (r *Reconciler) cordon(ctx context.Context, obs *observation, a *plan.Action) error {
	n := obs.nodes[a.Node]
	if n == nil {
		return nil
	}
	now := &corev1.Node{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: a.Node}, now); err != nil {
		return client.IgnoreNotFound(err)
	}
	uid := string(obs.operation.UID)
	mark := now.Annotations[refitv1alpha1.AnnotationCordonedBy]
	if string(now.UID) != n.UID || now.Spec.Unschedulable != n.Unschedulable || mark != n.CordonedBy {
		return nil
	}
	was := now.DeepCopy()
	switch a.Kind {
	case plan.Cordon:
		if now.Spec.Unschedulable {
			return nil
		}
		if now.Annotations == nil {
			now.Annotations = map[string]string{}
		}
		now.Annotations[refitv1alpha1.AnnotationCordonedBy], now.Spec.Unschedulable = uid, true
	default:
		if mark != uid {
			return nil
		}
		delete(now.Annotations, refitv1alpha1.AnnotationCordonedBy)
		now.Spec.Unschedulable = false
	}
	if err := r.Client.Patch(ctx, now, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}), fieldOwner); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.recordAction(obs, a)
	return nil
}
