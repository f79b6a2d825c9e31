package components

import (
	"context"
	"fmt"
	"regexp"

	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

var patchVersion = regexp.MustCompile(`^v1\.[0-9]+\.[0-9]+`)

// readAll reads what is installed of all components, from the status of each Component and from
// what was read for this one, and the plans of operations that have not ended. It reports whether
// all of them are known.
func (v *view) readAll(ctx context.Context, reader client.Reader) (complete bool, err error) {
	var list refitv1alpha1.ComponentList
	if err := reader.List(ctx, &list); err != nil {
		return false, fmt.Errorf("cannot list Components: %w", err)
	}
	complete = true
	for i := range list.Items {
		status := &list.Items[i].Status
		if list.Items[i].Name == v.component.Name {
			status = &v.status
		} else if status.ObservedGeneration == 0 {
			complete = false
		}
		if status.Installed != nil {
			v.installed = append(v.installed, component.Installed{
				Name: list.Items[i].Name, Version: status.Installed.Version, ByRefit: status.Owner == refitv1alpha1.OwnerRefit,
			})
		}
	}
	var operations refitv1alpha1.ClusterUpgradeList
	if err := reader.List(ctx, &operations); err != nil {
		return false, fmt.Errorf("cannot list ClusterUpgrades: %w", err)
	}
	for i := range operations.Items {
		if o := &operations.Items[i]; !o.HasEnded() && o.Status.Plan != nil {
			v.plan = append(v.plan, o.Status.Plan.Components...)
		}
	}
	return complete, nil
}
