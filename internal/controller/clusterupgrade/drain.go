package clusterupgrade

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/orders"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// startDrain writes down that a node shall be emptied, from which moment its time counts. Whoever empties nodes sees that and evicts.
func (r *Reconciler) startDrain(ctx context.Context, obs *observation, a *plan.Action) error {
	if draining(obs.nodes[a.Node], a) {
		return nil // as every look decides anew until the node is empty
	}
	return r.patchNodeUpgrade(ctx, obs, a, func(now *refitv1alpha1.NodeUpgrade) bool {
		d := now.Status.Drain
		if d == nil || d.Sequence != now.Spec.Sequence {
			now.Status.Drain = &refitv1alpha1.DrainStatus{
				Sequence: now.Spec.Sequence, Phase: refitv1alpha1.DrainDraining, StartTime: r.stamp(), Delete: a.Delete,
			}
			return true
		}
		again := d.Phase == refitv1alpha1.DrainDrained // pods came back since
		if !again && d.Delete == a.Delete {
			return false
		}
		d.Phase, d.Delete, d.CompletionTime = refitv1alpha1.DrainDraining, a.Delete, nil
		return true
	})
}

// draining says whether a node was seen to be emptied already, in the way that was decided.
func draining(n *cluster.Node, a *plan.Action) bool {
	if n == nil || n.Upgrade == nil {
		return false
	}
	d := n.Upgrade.Status.Drain
	return d != nil && d.Sequence == n.Upgrade.Spec.Sequence && d.Delete == a.Delete && d.Phase != refitv1alpha1.DrainDrained
}

// finishDrain writes down that a node could not be emptied, and what follows from that.
func (r *Reconciler) finishDrain(ctx context.Context, obs *observation, a *plan.Action) error {
	return r.patchNodeUpgrade(ctx, obs, a, func(now *refitv1alpha1.NodeUpgrade) bool {
		d := now.Status.Drain
		if d == nil || d.Sequence != now.Spec.Sequence {
			return false
		}
		d.Phase, d.CompletionTime = refitv1alpha1.DrainSkipped, r.stamp()
		if a.Kind == plan.FailDrain {
			d.Phase = refitv1alpha1.DrainFailed
		}
		return true
	})
}

// patchNodeUpgrade changes the controller's part of the status of a node's work, if that is still as it was seen.
func (r *Reconciler) patchNodeUpgrade(ctx context.Context, obs *observation, a *plan.Action, change func(*refitv1alpha1.NodeUpgrade) bool) error {
	n := obs.nodes[a.Node]
	now := &refitv1alpha1.NodeUpgrade{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: a.Node}, now); err != nil {
		return client.IgnoreNotFound(err)
	}
	if n == nil || !orders.Unchanged(now, n.Upgrade) {
		return nil
	}
	was := now.DeepCopy()
	if !change(now) {
		return nil
	}
	if a.Delete && !r.specUnchanged(ctx, obs.operation) {
		return nil
	}
	if err := r.Client.Status().Patch(ctx, now, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}), fieldOwner); err != nil {
		return err
	}
	r.recordAction(obs, a)
	return nil
}

// specUnchanged is the last look before a budget is set aside: a person may have changed the policy that says so since it was read.
func (r *Reconciler) specUnchanged(ctx context.Context, read *refitv1alpha1.ClusterUpgrade) bool {
	now := &refitv1alpha1.ClusterUpgrade{}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(read), now)
	return err == nil && now.UID == read.UID && now.Generation == read.Generation
}

// stamp is now, as statuses write it.
func (r *Reconciler) stamp() *metav1.Time { return stamp(r.Now()) }

func stamp(at time.Time) *metav1.Time {
	t := metav1.NewTime(at.UTC().Truncate(time.Second))
	return &t
}
