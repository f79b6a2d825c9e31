package plan

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
)

// lacks reports whether a node has to prefetch before something of the hop is disrupted: it will be
// upgraded, or a component may start Pods on it.
func (v *view) lacks(n *cluster.Node, hop int) bool {
	return !v.prefetched(n, hop) && (!v.at(n, hop) || v.imagesLeft[hop])
}

// content is what a node prefetches in a hop.
func (v *view) content(n *cluster.Node, hop int) string {
	if v.at(n, hop) {
		return "images of components"
	}
	return v.plan.Hops[hop].Kubernetes
}

// bringsImages reports whether components of a hop need images on nodes.
func (p *Plan) bringsImages(hop int) bool {
	return slices.ContainsFunc(p.components, func(s componentplan.Step) bool { return s.Hop == hop && s.Action != refitv1alpha1.ActionRemove })
}

// leftImages reports for each hop whether a component that needs images is still to be changed. A
// node that joins while one is being changed prefetches before the next one.
func (v *view) leftImages() []bool {
	out := make([]bool, len(v.plan.Hops))
	if slices.ContainsFunc(v.s.ComponentUpgrades, func(u cluster.ComponentUpgrade) bool {
		return string(u.Spec.Operation.UID) == v.op.UID && componentplan.Changing(&u)
	}) {
		return out
	}
	for i := range v.plan.components {
		if s := &v.plan.components[i]; s.Action != refitv1alpha1.ActionRemove && !v.componentDone(s) {
			out[s.Hop] = true
		}
	}
	return out
}

// withdrawPrefetches withdraws the orders of nodes that have only prefetched, and reports whether
// there were any: they permit what no operation follows any more.
func (d *deciding) withdrawPrefetches(hop int) bool {
	withdrawn := false
	for _, nodes := range [][]*cluster.Node{d.controlPlane, d.workers} {
		for _, n := range nodes {
			order := d.order(n)
			if order == nil || order.Spec.Permit != refitv1alpha1.PermitPrefetch || n.Report == nil || !d.at(n, hop) {
				continue
			}
			d.withdrawOrder(n, "the components are upgraded, and nothing is left to prefetch")
			withdrawn = true
		}
	}
	return withdrawn
}
