package etcdbackup

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// observe reads the control plane nodes with their reports and orders, the active nodes of
// operations, and whether the store exists.
func (r *Reconciler) observe(ctx context.Context, backup *refitv1alpha1.EtcdBackup) (*etcdbackup.Observation, error) {
	obs := &etcdbackup.Observation{Backup: backup, Active: map[string]bool{}, Now: r.Now()}
	store := &refitv1alpha1.BackupStore{}
	err := r.Client.Get(ctx, types.NamespacedName{Name: backup.Spec.Store}, store)
	obs.StoreMissing, obs.Prefix, obs.Location = apierrors.IsNotFound(err), store.Spec.Prefix, etcdbackup.Location(&store.Spec)
	if err != nil && !obs.StoreMissing {
		return nil, fmt.Errorf("cannot get BackupStore %s: %w", backup.Spec.Store, err)
	}
	if backup.Status.StartTime == nil && !backup.HasEnded() { // it is about to start
		var all refitv1alpha1.EtcdBackupList
		if err := r.Client.List(ctx, &all); err != nil {
			return nil, fmt.Errorf("cannot list EtcdBackups: %w", err)
		}
		obs.Taking = etcdbackup.Taking(all.Items, backup)
		if store.Spec.Path != nil && backup.Status.Attempt == 0 {
			obs.Latest = etcdbackup.Latest(backup.Spec.Store, all.Items)
		}
	}
	var operations refitv1alpha1.ClusterUpgradeList
	if err := r.Cache.List(ctx, &operations, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list ClusterUpgrades in the cache: %w", err)
	}
	for i := range operations.Items {
		if u := &operations.Items[i]; obs.Upgrading == "" && etcdbackup.Upgrading(u) {
			obs.Upgrading = u.Name
		}
		for _, name := range operations.Items[i].Status.Active {
			obs.Active[name] = true
		}
	}
	var nodes corev1.NodeList
	if err := r.Cache.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list Nodes in the cache: %w", err)
	}
	for i := range nodes.Items {
		n := observe.Node(&nodes.Items[i])
		if !n.ControlPlane {
			continue
		}
		if err := r.addObjects(ctx, &n); err != nil {
			return nil, err
		}
		obs.Nodes = append(obs.Nodes, n)
	}
	return obs, nil
}

// addObjects adds the report and the order of a node.
func (r *Reconciler) addObjects(ctx context.Context, n *cluster.Node) error {
	var report refitv1alpha1.NodeReport
	switch err := r.Cache.Get(ctx, types.NamespacedName{Name: n.Name}, &report); {
	case err == nil:
		n.ReportRequest, n.Report = report.Spec.Request, &report.Status
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("cannot get NodeReport %s: %w", n.Name, err)
	}
	var order refitv1alpha1.NodeUpgrade
	switch err := r.Cache.Get(ctx, types.NamespacedName{Name: n.Name}, &order); {
	case err == nil:
		n.Upgrade = &cluster.Upgrade{Generation: order.Generation, Spec: order.Spec, Status: order.Status}
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("cannot get NodeUpgrade %s: %w", n.Name, err)
	}
	return nil
}
