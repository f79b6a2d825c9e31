package observe

import (
	"cmp"
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const windowsPerPage = 100

// readWindows reads the MaintenanceWindows.
func (obs *observation) readWindows(ctx context.Context) error {
	if obs.refit != nil {
		return obs.refit
	}
	const resource = "maintenancewindows"
	windows := rawLister[refitv1alpha1.MaintenanceWindow](obs.raw, refitPath(resource), "")
	return pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: windowsPerPage}, windows,
		func(page *rawPage[refitv1alpha1.MaintenanceWindow]) error {
			obs.windows = append(obs.windows, page.Items...)
			for i := range page.Items {
				obs.snapshot.Windows = append(obs.snapshot.Windows, windowOf(&page.Items[i]))
			}
			return nil
		})
}

func windowOf(w *refitv1alpha1.MaintenanceWindow) cluster.Window {
	return cluster.Window{Name: w.Name, Spec: w.Spec}
}

// mergeWindows merges the watched MaintenanceWindows with those of the last full read. A cluster
// with older CRDs has none.
func (w *World) mergeWindows(s *cluster.Snapshot) {
	s.Windows = nil
	windows, err := each[refitv1alpha1.MaintenanceWindow](w.watched)
	if err != nil {
		return
	}
	for _, window := range merge(w, windows, w.last.windows) {
		s.Windows = append(s.Windows, windowOf(window))
	}
	slices.SortFunc(s.Windows, func(a, b cluster.Window) int { return cmp.Compare(a.Name, b.Name) })
}
