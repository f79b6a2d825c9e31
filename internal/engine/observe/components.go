package observe

import (
	"cmp"
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// componentsPerPage is small: a Component lists what each ClusterRelease would change.
const componentsPerPage = 50

// readComponents reads the Components.
func (obs *observation) readComponents(ctx context.Context) error {
	if obs.refit != nil {
		return obs.refit
	}
	const resource = "components"
	components := rawLister[refitv1alpha1.Component](obs.raw, refitPath(resource), "")
	return pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: componentsPerPage}, components,
		func(page *rawPage[refitv1alpha1.Component]) error {
			obs.components = append(obs.components, page.Items...)
			for i := range page.Items {
				obs.snapshot.Components = append(obs.snapshot.Components, Component(&page.Items[i]))
			}
			return nil
		})
}

// readComponentUpgrades reads the ComponentUpgrades.
func (obs *observation) readComponentUpgrades(ctx context.Context) error {
	if obs.refit != nil {
		return obs.refit
	}
	const resource = "componentupgrades"
	orders := rawLister[refitv1alpha1.ComponentUpgrade](obs.raw, refitPath(resource), "")
	return pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: componentsPerPage}, orders,
		func(page *rawPage[refitv1alpha1.ComponentUpgrade]) error {
			obs.componentUpgrades = append(obs.componentUpgrades, page.Items...)
			for i := range page.Items {
				obs.snapshot.ComponentUpgrades = append(obs.snapshot.ComponentUpgrades, ComponentUpgrade(&page.Items[i]))
			}
			return nil
		})
}

// Component returns what decisions need of a Component. It shares slices with the object, which
// must not be changed.
func Component(c *refitv1alpha1.Component) cluster.Component {
	return cluster.Component{
		Name: c.Name, Generation: c.Generation, Manage: cmp.Or(c.Spec.Manage, refitv1alpha1.ManageRefit), Adopt: c.Spec.Adopt,
		ByRefit: c.Status.Owner == refitv1alpha1.OwnerRefit, Status: c.Status,
	}
}

// ComponentUpgrade returns what decisions need of a ComponentUpgrade. It shares slices with the
// object, which must not be changed.
func ComponentUpgrade(u *refitv1alpha1.ComponentUpgrade) cluster.ComponentUpgrade {
	out := cluster.ComponentUpgrade{Name: u.Name, Generation: u.Generation, Spec: u.Spec, Status: u.Status}
	if e := u.Status.Error; e != nil && e.LogTail != "" {
		short := *e
		short.LogTail = "" // no decision uses it, and a log may contain secrets
		out.Status.Error = &short
	}
	return out
}

// mergeComponents merges the watched Components and ComponentUpgrades with those of the last full
// read. A cluster with older CRDs has none.
func (w *World) mergeComponents(s *cluster.Snapshot) {
	s.Components, s.ComponentUpgrades = nil, nil
	components, err := each[refitv1alpha1.Component](w.watched)
	orders, also := each[refitv1alpha1.ComponentUpgrade](w.watched)
	if err != nil || also != nil {
		return
	}
	for _, c := range merge(w, components, w.last.components) {
		s.Components = append(s.Components, Component(c))
	}
	for _, u := range merge(w, orders, w.last.componentUpgrades) {
		s.ComponentUpgrades = append(s.ComponentUpgrades, ComponentUpgrade(u))
	}
	slices.SortFunc(s.Components, func(a, b cluster.Component) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.ComponentUpgrades, func(a, b cluster.ComponentUpgrade) int { return cmp.Compare(a.Name, b.Name) })
}
