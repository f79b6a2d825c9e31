package clusterupgrade

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/orders"
)

// cacheTimeout is how long the cache may take to catch up with the API server.
const cacheTimeout = 30 * time.Second

// raisedEpochs are the epochs that this process raised, by operation.
type raisedEpochs struct {
	mu     sync.Mutex
	epochs map[types.UID]int64
}

func (e *raisedEpochs) get(uid types.UID) (int64, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	epoch, ok := e.epochs[uid]
	return epoch, ok
}

func (e *raisedEpochs) set(uid types.UID, epoch int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.epochs == nil {
		e.epochs = map[types.UID]int64{}
	}
	e.epochs[uid] = epoch
}

// ensureEpoch raises the operation's epoch the first time that this process acts on it, above the
// epoch of every order and operation, and of every order that a host has accepted: agents reject a
// lower one. Then it waits until the cache has every order that a former leader wrote before, so
// that no decision misses one.
//
// It raises the epoch again when an agent reports a higher one later, or etcd was restored.
func (r *Reconciler) ensureEpoch(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade) error {
	raised, leads := r.epochs.get(operation.UID)
	if leads && operation.Status.Epoch > raised {
		return fmt.Errorf("another controller leads ClusterUpgrade %s: its epoch is %d, this controller raised it to %d",
			operation.Name, operation.Status.Epoch, raised)
	}
	accepted, err := r.acceptedEpochs(ctx)
	if err != nil {
		return err
	}
	if leads && operation.Status.Epoch == raised && orders.HighestEpoch(r.Now(), append(accepted, raised)...) == raised {
		return nil
	}
	written, versions, err := r.writtenEpochs(ctx)
	if err != nil {
		return err
	}
	ofComponents, componentVersions, err := r.componentEpochs(ctx)
	if err != nil {
		return err
	}
	highest := orders.HighestEpoch(r.Now(), slices.Concat(accepted, written, ofComponents)...)
	operation.Status.Epoch = max(highest, operation.Status.Epoch, raised) + 1
	assess.InitialStatus(operation, r.Now())
	if err := r.Client.Status().Update(ctx, operation); err != nil {
		return fmt.Errorf("cannot raise the epoch of ClusterUpgrade %s: %w", operation.Name, err)
	}
	if err := waitForCache(ctx, versions, r.cachedOrders); err != nil {
		return fmt.Errorf("the cache has not caught up with the NodeUpgrades: %w", err)
	}
	if err := waitForCache(ctx, componentVersions, r.cachedComponentOrders); err != nil {
		return fmt.Errorf("the cache has not caught up with the ComponentUpgrades: %w", err)
	}
	r.epochs.set(operation.UID, operation.Status.Epoch)
	return nil
}

// acceptedEpochs are the epochs that hosts have accepted, as the cache has them: a report that it
// lacks raises the epoch later.
func (r *Reconciler) acceptedEpochs(ctx context.Context) ([]int64, error) {
	var reports refitv1alpha1.NodeReportList
	if err := r.Cache.List(ctx, &reports, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list NodeReports in the cache: %w", err)
	}
	accepted := make([]int64, 0, len(reports.Items))
	for i := range reports.Items {
		accepted = append(accepted, reports.Items[i].Status.AcceptedEpoch)
	}
	return accepted, nil
}

// writtenEpochs are the epochs of all orders and operations. It also returns the resourceVersion of
// each order, by node.
func (r *Reconciler) writtenEpochs(ctx context.Context) (epochs []int64, versions map[string]string, err error) {
	versions = map[string]string{}
	var operations refitv1alpha1.ClusterUpgradeList
	if err := r.Client.List(ctx, &operations); err != nil {
		return nil, nil, fmt.Errorf("cannot list ClusterUpgrades: %w", err)
	}
	for i := range operations.Items {
		epochs = append(epochs, operations.Items[i].Status.Epoch)
	}
	for page := (refitv1alpha1.NodeUpgradeList{}); ; {
		if err := r.Client.List(ctx, &page, client.Limit(500), client.Continue(page.Continue)); err != nil {
			return nil, nil, fmt.Errorf("cannot list NodeUpgrades: %w", err)
		}
		for i := range page.Items {
			epochs = append(epochs, page.Items[i].Spec.Epoch)
			versions[page.Items[i].Name] = page.Items[i].ResourceVersion
		}
		if page.Continue == "" {
			return epochs, versions, nil
		}
	}
}

// waitForCache waits until the cache has every order in at least the given resourceVersion.
func waitForCache(ctx context.Context, versions map[string]string, cached func(context.Context) (map[string]string, error)) error {
	if len(versions) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cacheTimeout)
	defer cancel()
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		have, err := cached(ctx)
		if err != nil {
			return false, err
		}
		for name, version := range versions {
			if found, ok := have[name]; !ok || observe.Older(found, version) {
				return false, nil
			}
		}
		return true, nil
	})
}

// cachedOrders are the resourceVersions of NodeUpgrades in the cache.
func (r *Reconciler) cachedOrders(ctx context.Context) (map[string]string, error) {
	var cached refitv1alpha1.NodeUpgradeList
	if err := r.Cache.List(ctx, &cached, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	out := make(map[string]string, len(cached.Items))
	for i := range cached.Items {
		out[cached.Items[i].Name] = cached.Items[i].ResourceVersion
	}
	return out, nil
}

// cachedComponentOrders are the resourceVersions of ComponentUpgrades in the cache.
func (r *Reconciler) cachedComponentOrders(ctx context.Context) (map[string]string, error) {
	var cached refitv1alpha1.ComponentUpgradeList
	if err := r.Cache.List(ctx, &cached, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	out := make(map[string]string, len(cached.Items))
	for i := range cached.Items {
		out[cached.Items[i].Name] = cached.Items[i].ResourceVersion
	}
	return out, nil
}
