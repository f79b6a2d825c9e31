package clusterupgrade

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/orders"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// orderComponent gives an order to refit-components. The order that the decision was made on must
// still be in the API, and the operation must be as it was: a component changes the whole cluster.
func (r *Reconciler) orderComponent(ctx context.Context, obs *observation, a *plan.Action) (bool, error) {
	operation := &refitv1alpha1.ClusterUpgrade{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(obs.operation), operation); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	decidedOn := obs.operation
	deleted := !operation.DeletionTimestamp.IsZero() && a.Kind != plan.HoldComponent
	if operation.UID != decidedOn.UID || operation.Generation != decidedOn.Generation || operation.Status.Epoch != decidedOn.Status.Epoch ||
		operation.HasEnded() || deleted {
		return false, nil
	}
	writer, c := orders.Writer{Client: r.Client, FieldOwner: fieldOwner}, a.Component
	current, err := writer.CurrentComponent(ctx, c.Name, obs.snapshot.ComponentUpgrade(c.Name))
	if err != nil || current == nil {
		return false, err
	}
	order := orders.ComponentOrder{
		Permit: c.Permit, Release: c.Release, Action: c.Action, Version: c.Version, Kubernetes: c.Kubernetes, Digest: c.Digest, Attempt: c.Attempt,
		NotAfter: c.NotAfter,
	}
	if err := writer.WriteComponent(ctx, current, operation, order, obs.now); err != nil {
		return false, err
	}
	return true, nil
}

// componentEpochs are the epochs of the orders for components, and their resourceVersions by name.
func (r *Reconciler) componentEpochs(ctx context.Context) (epochs []int64, versions map[string]string, err error) {
	versions = map[string]string{}
	if !r.Components {
		return nil, versions, nil
	}
	var all refitv1alpha1.ComponentUpgradeList
	if err := r.Client.List(ctx, &all); err != nil {
		return nil, nil, fmt.Errorf("cannot list ComponentUpgrades: %w", err)
	}
	for i := range all.Items {
		epochs = append(epochs, all.Items[i].Spec.Epoch)
		versions[all.Items[i].Name] = all.Items[i].ResourceVersion
	}
	return epochs, versions, nil
}
