package etcdbackup

import (
	"context"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// requeueInterval is how often an unfinished backup is checked without an event, for its timeouts.
const requeueInterval = 15 * time.Second

// fieldOwner owns the fields that the controller writes.
const fieldOwner = client.FieldOwner("refit-controller")

// Reconciler takes EtcdBackups.
type Reconciler struct {
	// Cache has Nodes, NodeReports, NodeUpgrades and ClusterUpgrades.
	Cache client.Reader
	// Client reads from the API itself.
	Client client.Client
	Now    func() time.Time
}

// Reconcile observes, decides, acts, and writes the status. Each write carries the resourceVersion
// that the decision was made on, so a former leader's writes fail.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	backup := &refitv1alpha1.EtcdBackup{}
	err := r.Client.Get(ctx, request.NamespacedName, backup)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("cannot get EtcdBackup %s: %w", request.Name, err)
	}
	exists := backup.UID != "" && backup.DeletionTimestamp.IsZero()
	if !exists {
		backup.UID = ""
	}
	if err := r.withdrawDeleted(ctx, request.Name, backup.UID); err != nil || !exists {
		return retried(err)
	}
	obs, err := r.observe(ctx, backup)
	if err != nil {
		return ctrl.Result{}, err
	}
	action := etcdbackup.Next(obs)
	err = r.execute(ctx, obs, &action)
	if err == nil {
		err = r.writeStatus(ctx, obs, &action)
	}
	if err != nil || action.Kind == etcdbackup.Nothing || action.Kind == etcdbackup.Finish {
		return retried(err)
	}
	return ctrl.Result{RequeueAfter: requeueInterval}, nil
}

// retried is the result of an error, if there is one. The change that came first before a conflict
// causes an event.
func retried(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{}, err
}

// execute executes what an action does besides the status. Start has no other effect: the order
// follows once the attempt is recorded.
func (r *Reconciler) execute(ctx context.Context, obs *etcdbackup.Observation, a *etcdbackup.Action) error {
	do := map[etcdbackup.ActionKind]func(context.Context, *etcdbackup.Observation, *etcdbackup.Action) error{
		etcdbackup.RequestReport: r.requestReports, etcdbackup.GiveOrder: r.giveOrder, etcdbackup.Withdraw: r.withdraw,
	}[a.Kind]
	if do == nil {
		return nil
	}
	ctrllog.FromContext(ctx).Info("Backing up etcd", "action", a.Kind, "attempt", obs.Backup.Status.Attempt, "node", a.Node.Name)
	return do(ctx, obs, a)
}

func (r *Reconciler) writeStatus(ctx context.Context, obs *etcdbackup.Observation, a *etcdbackup.Action) error {
	before := obs.Backup.Status.DeepCopy()
	etcdbackup.Apply(obs.Backup, a, obs.Now)
	if reflect.DeepEqual(*before, obs.Backup.Status) {
		return nil
	}
	if err := r.Client.Status().Update(ctx, obs.Backup, fieldOwner); err != nil {
		return fmt.Errorf("cannot write the status of EtcdBackup %s: %w", obs.Backup.Name, err)
	}
	return nil
}
