package observe

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// upgradesPerPage times 16 KiB, the largest that a NodeUpgrade gets, is a page of 8 MiB.
const upgradesPerPage = 500

// readUpgrades gives each node the work on it.
func (g *gathering) readUpgrades(ctx context.Context) error {
	if g.refit != nil {
		return g.refit
	}
	const resource = "nodeupgrades"
	upgrades := rawLister[refitv1alpha1.NodeUpgrade](g.raw, refitPath(resource), "")
	return pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: upgradesPerPage}, upgrades,
		func(page *rawPage[refitv1alpha1.NodeUpgrade]) error {
			for _, u := range page.Items {
				if n := g.nodes[u.Name]; n != nil {
					if u.Status.Error != nil {
						u.Status.Error.LogTail = "" // nothing decides by it, and a log may hold anything
					}
					n.Upgrade = &cluster.Upgrade{Spec: u.Spec, Status: u.Status}
				}
			}
			return nil
		})
}
