package clusterrelease

import (
	"context"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/orders"
)

// writeInterval is the least time between two writes of one status: thousands of hosts that accept
// an order are counted in a few writes.
const writeInterval = 10 * time.Second

// Reconciler keeps the status of ClusterReleases current.
type Reconciler struct {
	Cache  client.Reader
	Client client.Client
	Now    func() time.Time

	written writeTimes
}

// Reconcile counts the agents' answers and writes the status if it changed.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	release := &refitv1alpha1.ClusterRelease{}
	if err := r.Client.Get(ctx, request.NamespacedName, release); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	upgrades := &refitv1alpha1.NodeUpgradeList{}
	if err := r.Cache.List(ctx, upgrades, client.UnsafeDisableDeepCopy); err != nil {
		return ctrl.Result{}, fmt.Errorf("cannot list NodeUpgrades in the cache: %w", err)
	}
	previous := release.Status.DeepCopy()
	orders.UpdateRelease(release, upgrades.Items, r.Now())
	if reflect.DeepEqual(*previous, release.Status) {
		return ctrl.Result{}, nil
	}
	if remaining := r.written.remaining(release.UID, r.Now()); remaining > 0 {
		return ctrl.Result{RequeueAfter: remaining}, nil
	}
	err := r.Client.Status().Update(ctx, release)
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("cannot write the status of ClusterRelease %s: %w", release.Name, err)
	}
	r.written.set(release.UID, r.Now())
	return ctrl.Result{}, nil
}
