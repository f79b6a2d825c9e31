package clusterupgrade

import (
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// createBackup creates the EtcdBackup of a hop. It has no owner: it is the record of what is in the
// store, and remains when the operation is deleted. Its name is taken if another leader, or this
// one before a crash, has created it.
func (r *Reconciler) createBackup(ctx context.Context, obs *observation, a *plan.Action) (bool, error) {
	current := &refitv1alpha1.ClusterUpgrade{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(obs.operation), current); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	decidedOn := obs.operation
	if current.UID != decidedOn.UID || current.Generation != decidedOn.Generation || current.Status.Epoch != decidedOn.Status.Epoch ||
		current.HasEnded() || !current.DeletionTimestamp.IsZero() {
		return false, nil
	}
	backup := &refitv1alpha1.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Name: a.Backup.Name, Labels: map[string]string{
			refitv1alpha1.LabelOperation: string(decidedOn.UID), refitv1alpha1.LabelHop: a.Backup.Hop,
			refitv1alpha1.LabelNumber: strconv.FormatInt(a.Backup.Number, 10), refitv1alpha1.LabelRetry: strconv.FormatInt(a.Backup.Retry, 10),
		}},
		Spec: a.Backup.Spec,
	}
	err := r.Client.Create(ctx, backup, fieldOwner)
	if apierrors.IsAlreadyExists(err) {
		return false, r.checkOwn(ctx, backup, obs.snapshot.Operation)
	}
	if err != nil {
		return false, fmt.Errorf("cannot create EtcdBackup %s: %w", backup.Name, err)
	}
	return true, nil
}

// checkOwn returns an error if the EtcdBackup that has the name of another one does not count as
// one of the operation: it would never be observed, and the operation would wait for it in silence.
func (r *Reconciler) checkOwn(ctx context.Context, wanted *refitv1alpha1.EtcdBackup, op *cluster.Operation) error {
	exists := &refitv1alpha1.EtcdBackup{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(wanted), exists); err != nil {
		return client.IgnoreNotFound(err)
	}
	if _, own := observe.Backup(exists, op); !own {
		return fmt.Errorf("EtcdBackup %s exists, but this operation has not created it: delete it", wanted.Name)
	}
	return nil
}

// deleteBackup deletes an EtcdBackup that has not ended. Its controller withdraws the order.
func (r *Reconciler) deleteBackup(ctx context.Context, _ *observation, a *plan.Action) (bool, error) {
	backup := &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: a.Backup.Name}}
	err := r.Client.Delete(ctx, backup, client.Preconditions{UID: uid(a.Backup.UID)})
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("cannot delete EtcdBackup %s: %w", backup.Name, err)
	}
	return err == nil, nil
}

func uid(of string) *types.UID {
	out := types.UID(of)
	return &out
}
