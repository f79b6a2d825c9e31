package etcdbackup

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/orders"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// giveOrder gives the order of the recorded attempt to its node. The order that the decision was
// made on must still be in the API.
func (r *Reconciler) giveOrder(ctx context.Context, obs *etcdbackup.Observation, a *etcdbackup.Action) error {
	writer := orders.Writer{Client: r.Client, FieldOwner: fieldOwner}
	current, err := writer.Current(ctx, a.Node)
	if err != nil || current == nil {
		return err
	}
	return writer.WriteBackup(ctx, current, a.Node, etcdbackup.Ref(obs.Backup), obs.Now)
}

// withdraw withdraws the order of an attempt that failed, unless another one has replaced it.
func (r *Reconciler) withdraw(ctx context.Context, obs *etcdbackup.Observation, a *etcdbackup.Action) error {
	current := &refitv1alpha1.NodeUpgrade{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: a.Node.Name}, current); err != nil {
		return client.IgnoreNotFound(err)
	}
	if current.Spec.Backup != etcdbackup.Ref(obs.Backup) {
		return nil
	}
	return orders.Writer{Client: r.Client, FieldOwner: fieldOwner}.Hold(ctx, current)
}

// withdrawDeleted withdraws the orders of an EtcdBackup that was deleted: its agent stops, and an
// upgrade need not wait for it.
func (r *Reconciler) withdrawDeleted(ctx context.Context, name string) error {
	var all refitv1alpha1.NodeUpgradeList
	if err := r.Cache.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list NodeUpgrades in the cache: %w", err)
	}
	for i := range all.Items {
		order := &all.Items[i]
		if order.Spec.Permit != refitv1alpha1.PermitBackup || order.Spec.Backup.Name != name {
			continue
		}
		if ended := order.Status.Backup.Ended() && order.Status.Backup.IsOf(order.Spec.Backup); ended {
			continue
		}
		// The order in the cache may be an old one; the update fails then, and is repeated.
		err := orders.Writer{Client: r.Client, FieldOwner: fieldOwner}.Hold(ctx, order.DeepCopy())
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// requestReports requests the reports that are due, from which the follower is then chosen. The
// number only increases, so other requests do no harm.
func (r *Reconciler) requestReports(ctx context.Context, obs *etcdbackup.Observation, _ *etcdbackup.Action) error {
	for i := range obs.Nodes {
		if !etcdbackup.ReportDue(&obs.Nodes[i], obs.Now) {
			continue
		}
		report := &refitv1alpha1.NodeReport{}
		report.Name = obs.Nodes[i].Name
		request := max(obs.Now.Truncate(time.Second).Unix(), obs.Nodes[i].ReportRequest)
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"request":%d}}`, request))
		if err := client.IgnoreNotFound(r.Client.Patch(ctx, report, patch, fieldOwner)); err != nil {
			return fmt.Errorf("cannot request NodeReport %s: %w", report.Name, err)
		}
	}
	return nil
}
