package clusterupgrade

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// fieldOwner is whose fields the controller's are.
const fieldOwner = client.FieldOwner("refit-controller")

var permits = map[plan.ActionKind]refitv1alpha1.Permit{
	plan.Prefetch: refitv1alpha1.PermitPrefetch, plan.Apply: refitv1alpha1.PermitApply,
	plan.PutBack: refitv1alpha1.PermitRollback, plan.Hold: refitv1alpha1.PermitHold,
}

// order orders a node's agent to do something. The order that is there must be the one that the decision was made on.
func (r *Reconciler) order(ctx context.Context, obs *observation, a *plan.Action) error {
	n := obs.nodes[a.Node]
	if n == nil || n.Report == nil || a.Release == nil {
		return nil // gates hold such a node
	}
	now := &refitv1alpha1.NodeUpgrade{}
	err := r.Client.Get(ctx, types.NamespacedName{Name: n.Name}, now)
	switch {
	case apierrors.IsNotFound(err):
		if n.Upgrade != nil {
			return nil
		}
		now = &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: n.Name, OwnerReferences: []metav1.OwnerReference{ownedBy(n)}}}
		now.Spec = orderOf(obs, n, a, 0)
		return r.Client.Create(ctx, now, fieldOwner)
	case err != nil:
		return err
	case !sameOrder(now, n.Upgrade):
		return nil
	}
	if a.Kind == plan.Apply && now.Status.Drain != nil && now.Status.Drain.Sequence == now.Spec.Sequence {
		// The last look: somebody may have put a pod there since it was emptied.
		left, err := r.PodsToEvict(ctx, n.Name)
		if err != nil || len(left) > 0 {
			return errors.Join(err, r.startDrain(ctx, obs, a))
		}
	}
	now.OwnerReferences = []metav1.OwnerReference{ownedBy(n)} // the node may have joined anew
	now.Spec = orderOf(obs, n, a, now.Spec.Sequence)
	if err := r.Client.Update(ctx, now, fieldOwner); err != nil {
		return err
	}
	r.recordAction(obs, a)
	return nil
}

// orderOf is the whole order, numbered above every one that was written or that the agent ever accepted.
func orderOf(obs *observation, n *cluster.Node, a *plan.Action, last int64) refitv1alpha1.NodeUpgradeSpec {
	return refitv1alpha1.NodeUpgradeSpec{
		Format:    refitv1alpha1.NodeUpgradeFormat,
		Operation: refitv1alpha1.Operation{Name: obs.operation.Name, UID: obs.operation.UID},
		NodeUID:   types.UID(n.UID), MachineID: n.Report.MachineID,
		Sequence: max(last, n.Report.AcceptedSequence) + 1, Epoch: obs.operation.Status.Epoch, Attempt: a.Attempt,
		Role: a.Role, Release: *a.Release, Permit: permits[a.Kind], Rollback: obs.operation.Spec.Rollback,
		KeepAddons: a.KeepAddons, OrderTime: stamp(obs.now),
	}
}

// sameOrder says whether a node's work is still as it was seen, as far as decisions look at it. No two orders have one sequence.
func sameOrder(now *refitv1alpha1.NodeUpgrade, seen *cluster.Upgrade) bool {
	return seen != nil && now.Spec.NodeUID == seen.Spec.NodeUID && now.Spec.Sequence == seen.Spec.Sequence &&
		now.Status.ObservedSequence == seen.Status.ObservedSequence && now.Status.Phase == seen.Status.Phase &&
		drainPhase(now.Status.Drain) == drainPhase(seen.Status.Drain)
}

func drainPhase(d *refitv1alpha1.DrainStatus) refitv1alpha1.DrainPhase {
	if d == nil {
		return ""
	}
	return d.Phase
}

func ownedBy(n *cluster.Node) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: types.UID(n.UID)}
}
