package observe

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// upgradesPerPage NodeUpgrades of at most 16 KiB are a page of at most 4 MiB.
const upgradesPerPage = 250

// readUpgrades adds its NodeUpgrade to each node.
func (obs *observation) readUpgrades(ctx context.Context) error {
	if obs.refit != nil {
		return obs.refit
	}
	const resource = "nodeupgrades"
	upgrades := rawLister[refitv1alpha1.NodeUpgrade](obs.raw, refitPath(resource), "")
	return pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: upgradesPerPage}, upgrades,
		func(page *rawPage[refitv1alpha1.NodeUpgrade]) error {
			for i := range page.Items {
				if n := obs.nodes[page.Items[i].Name]; n != nil && obs.keep(n, kindUpgrade, page.Items[i].ResourceVersion) {
					n.Upgrade = upgradeOf(&page.Items[i])
				}
			}
			return nil
		})
}

// upgradeOf keeps what decisions need. It shares slices with the object, which must not be changed.
func upgradeOf(u *refitv1alpha1.NodeUpgrade) *cluster.Upgrade {
	out := &cluster.Upgrade{Generation: u.Generation, Spec: u.Spec, Status: u.Status}
	if e := u.Status.Error; e != nil && e.LogTail != "" {
		short := *e
		short.LogTail = "" // no decision uses it, and a log may contain secrets
		out.Status.Error = &short
	}
	return out
}
