package observe

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// reportsPerPage reports of at most 8 KiB are a page of at most 4 MiB.
const reportsPerPage = 500

// readReports adds the report of its agent to each node.
func (obs *observation) readReports(ctx context.Context) error {
	if obs.refit != nil {
		return obs.refit
	}
	const resource = "nodereports"
	reports := rawLister[refitv1alpha1.NodeReport](obs.raw, refitPath(resource), "")
	return pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: reportsPerPage}, reports,
		func(page *rawPage[refitv1alpha1.NodeReport]) error {
			for i := range page.Items {
				// The report of a deleted node is garbage-collected.
				if n := obs.nodes[page.Items[i].Name]; n != nil && obs.keep(n, kindReport, page.Items[i].ResourceVersion) {
					status := page.Items[i].Status // a copy, so that the page can be freed
					n.ReportRequest, n.Report = page.Items[i].Spec.Request, &status
				}
			}
			return nil
		})
}
