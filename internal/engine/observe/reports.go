package observe

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// reportsPerPage times 8 KiB, the largest that a NodeReport gets, is a page of 4 MiB.
const reportsPerPage = 500

// readReports gives each node what its agent told.
func (g *gathering) readReports(ctx context.Context) error {
	if g.refit != nil {
		return g.refit
	}
	const resource = "nodereports"
	reports := rawLister[refitv1alpha1.NodeReport](g.raw, refitPath(resource), "")
	return pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: reportsPerPage}, reports,
		func(page *rawPage[refitv1alpha1.NodeReport]) error {
			for i := range page.Items {
				// A report without a node will follow it.
				if n := g.nodes[page.Items[i].Name]; n != nil && g.keep(n, kindReport, page.Items[i].ResourceVersion) {
					status := page.Items[i].Status // a copy, so that the page is let go of
					n.Asked, n.Report = page.Items[i].Spec.Request, &status
				}
			}
			return nil
		})
}
