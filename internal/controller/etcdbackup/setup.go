package etcdbackup

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/observe"
)

// Setup makes the controller and adds it to a manager. It adds none if the installed CRDs are
// older: watches of kinds that do not exist would stop all controllers.
func Setup(manager ctrl.Manager, options controller.Options) error {
	served, err := observe.Served(manager.GetRESTMapper(), manager.GetScheme(), &refitv1alpha1.EtcdBackup{}, &refitv1alpha1.BackupStore{})
	if err != nil {
		return err
	}
	if !served {
		manager.GetLogger().Info("The cluster has no CRDs of backups, so none are taken; run `refit install`")
		return nil
	}
	r := &Reconciler{Cache: manager.GetCache(), Client: manager.GetClient(), Now: time.Now}
	return r.SetupWithManager(manager, options)
}

// SetupWithManager adds the controller to a manager. It reconciles an EtcdBackup when it, its order
// or its store changes, and one that does not exist any more when an agent has an order of it.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager, options controller.Options) error {
	options.MaxConcurrentReconciles = 1 // two backups must not choose the same node
	unfinished := handler.EnqueueRequestsFromMapFunc(r.unfinished)
	return ctrl.NewControllerManagedBy(manager).
		For(&refitv1alpha1.EtcdBackup{}).
		Watches(&refitv1alpha1.NodeUpgrade{}, unfinished).
		Watches(&refitv1alpha1.NodeUpgrade{}, handler.EnqueueRequestsFromMapFunc(ordered)).
		Watches(&refitv1alpha1.NodeReport{}, unfinished).
		Watches(&refitv1alpha1.BackupStore{}, unfinished).
		WithOptions(options).
		Complete(r)
}

// ordered is the backup that an order is about, which may have been deleted.
func ordered(_ context.Context, object client.Object) []ctrl.Request {
	u, is := object.(*refitv1alpha1.NodeUpgrade)
	if !is || u.Spec.Permit != refitv1alpha1.PermitBackup {
		return nil
	}
	return []ctrl.Request{{NamespacedName: types.NamespacedName{Name: u.Spec.Backup.Name}}}
}

// unfinished are the backups that have not ended.
func (r *Reconciler) unfinished(ctx context.Context, _ client.Object) []ctrl.Request {
	var all refitv1alpha1.EtcdBackupList
	if err := r.Cache.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		ctrllog.FromContext(ctx).Error(err, "Cannot list EtcdBackups in the cache")
		return nil
	}
	var out []ctrl.Request
	for i := range all.Items {
		if !all.Items[i].HasEnded() {
			out = append(out, ctrl.Request{NamespacedName: types.NamespacedName{Name: all.Items[i].Name}})
		}
	}
	return out
}
