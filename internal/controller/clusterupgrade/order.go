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

// manager is whose fields the controller's are.
const manager = client.FieldOwner("refit-controller")

var permits = map[plan.ActionKind]refitv1alpha1.Permit{
	plan.Prefetch: refitv1alpha1.PermitPrefetch, plan.Apply: refitv1alpha1.PermitApply,
	plan.PutBack: refitv1alpha1.PermitRollback, plan.Hold: refitv1alpha1.PermitHold,
}

// order orders a node's agent to do something. The order that is there must be the one that the decision was made on.
func (c *Controller) order(ctx context.Context, seen *sight, a *plan.Action) error {
	n := seen.nodes[a.Node]
	if n == nil || n.Report == nil || a.Release == nil {
		return nil // gates hold such a node
	}
	now := &refitv1alpha1.NodeUpgrade{}
	err := c.Live.Get(ctx, types.NamespacedName{Name: n.Name}, now)
	switch {
	case apierrors.IsNotFound(err):
		if n.Upgrade != nil {
			return nil
		}
		now = &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: n.Name, OwnerReferences: []metav1.OwnerReference{ownedBy(n)}}}
		now.Spec = orderOf(seen, n, a, 0)
		return c.Live.Create(ctx, now, manager)
	case err != nil:
		return err
	case !sameOrder(now, n.Upgrade):
		return nil
	}
	if a.Kind == plan.Apply && now.Status.Drain != nil && now.Status.Drain.Sequence == now.Spec.Sequence {
		// The last look: somebody may have put a pod there since it was emptied.
		left, err := c.Left(ctx, n.Name)
		if err != nil || len(left) > 0 {
			return errors.Join(err, c.drain(ctx, seen, a))
		}
	}
	now.OwnerReferences = []metav1.OwnerReference{ownedBy(n)} // the node may have joined anew
	now.Spec = orderOf(seen, n, a, now.Spec.Sequence)
	if err := c.Live.Update(ctx, now, manager); err != nil {
		return err
	}
	c.noteAct(seen, a)
	return nil
}

// orderOf is the whole order, numbered above every one that was written or that the agent ever accepted.
func orderOf(seen *sight, n *cluster.Node, a *plan.Action, last int64) refitv1alpha1.NodeUpgradeSpec {
	return refitv1alpha1.NodeUpgradeSpec{
		Format:    refitv1alpha1.NodeUpgradeFormat,
		Operation: refitv1alpha1.Operation{Name: seen.operation.Name, UID: seen.operation.UID},
		NodeUID:   types.UID(n.UID), MachineID: n.Report.MachineID,
		Sequence: max(last, n.Report.AcceptedSequence) + 1, Epoch: seen.operation.Status.Epoch, Attempt: a.Attempt,
		Role: a.Role, Release: *a.Release, Permit: permits[a.Kind], Rollback: seen.operation.Spec.Rollback,
		KeepAddons: a.KeepAddons, OrderedAt: stamp(seen.now),
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
