package etcdbackup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/orders"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	upgradeorders "github.com/refit-dev/refit/internal/upgrade/orders"
)

// giveOrder gives the order of the recorded attempt to its node. The order that the decision was
// made on must still be in the API, and no operation may have claimed the node since.
func (r *Reconciler) giveOrder(ctx context.Context, obs *etcdbackup.Observation, a *etcdbackup.Action) error {
	if claimed, err := r.claimed(ctx, a.Node.Name); err != nil || claimed {
		return err
	}
	writer := orders.Writer{Client: r.Client, FieldOwner: fieldOwner}
	current, err := writer.Current(ctx, a.Node)
	if err != nil || current == nil {
		return err
	}
	return writer.WriteBackup(ctx, current, a.Node, etcdbackup.Ref(obs.Backup), obs.Now)
}

// claimed reports whether an operation has claimed a node, as the API has it: the cache may lag
// behind a claim.
func (r *Reconciler) claimed(ctx context.Context, node string) (bool, error) {
	var operations refitv1alpha1.ClusterUpgradeList
	if err := r.Client.List(ctx, &operations); err != nil {
		return false, fmt.Errorf("cannot list ClusterUpgrades: %w", err)
	}
	return slices.ContainsFunc(operations.Items, func(u refitv1alpha1.ClusterUpgrade) bool { return slices.Contains(u.Status.Active, node) }), nil
}

// withdrawDeleted withdraws the orders of EtcdBackups that were deleted: an operation would wait
// for them. uid is the UID of the EtcdBackup that has the name now, empty if there is none.
func (r *Reconciler) withdrawDeleted(ctx context.Context, name string, uid types.UID) error {
	var all refitv1alpha1.NodeUpgradeList
	if err := r.Cache.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list NodeUpgrades in the cache: %w", err)
	}
	for i := range all.Items {
		u := &all.Items[i]
		if u.Spec.Backup.Name != name || u.Spec.Backup.UID == uid || !backingUp(u, r.Now()) {
			continue
		}
		current := &refitv1alpha1.NodeUpgrade{}
		if err := r.Client.Get(ctx, client.ObjectKeyFromObject(u), current); err != nil {
			return client.IgnoreNotFound(err)
		}
		if current.Spec.Backup != u.Spec.Backup || !backingUp(current, r.Now()) {
			continue
		}
		ctrllog.FromContext(ctx).Info("Withdrawing the order of a deleted EtcdBackup", "node", u.Name, "etcdBackup", name)
		if err := (orders.Writer{Client: r.Client, FieldOwner: fieldOwner}).Hold(ctx, current); err != nil {
			return err
		}
	}
	return nil
}

func backingUp(u *refitv1alpha1.NodeUpgrade, now time.Time) bool {
	return upgradeorders.BackingUp(&cluster.Upgrade{Generation: u.Generation, Spec: u.Spec, Status: u.Status}, now)
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
