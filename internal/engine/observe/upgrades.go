package observe

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// upgradesPerPage times 16 KiB, the largest that a NodeUpgrade gets, is a page of 4 MiB.
const upgradesPerPage = 250

// readUpgrades gives each node the work on it.
func (g *gathering) readUpgrades(ctx context.Context) error {
	if g.refit != nil {
		return g.refit
	}
	const resource = "nodeupgrades"
	upgrades := rawLister[refitv1alpha1.NodeUpgrade](g.raw, refitPath(resource), "")
	return pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: upgradesPerPage}, upgrades,
		func(page *rawPage[refitv1alpha1.NodeUpgrade]) error {
			for i := range page.Items {
				if n := g.nodes[page.Items[i].Name]; n != nil && g.keep(n, kindUpgrade, page.Items[i].ResourceVersion) {
					n.Upgrade = upgradeOf(&page.Items[i])
				}
			}
			return nil
		})
}

// upgradeOf keeps what decisions need. It shares lists with the object, which nobody changes: not a cache, and not who thinks.
func upgradeOf(u *refitv1alpha1.NodeUpgrade) *cluster.Upgrade {
	out := &cluster.Upgrade{Spec: u.Spec, Status: u.Status}
	if e := u.Status.Error; e != nil && e.LogTail != "" {
		short := *e
		short.LogTail = "" // nothing decides by it, and a log may hold anything
		out.Status.Error = &short
	}
	return out
}
