package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podsPerPage limits the memory: at most one page of pods is in memory.
const podsPerPage = 500

// readPods folds the pods of the cluster page by page.
func (obs *observation) readPods(ctx context.Context) error {
	f := &fold{obs: obs, places: map[entry]int{}}
	err := pages(ctx, listAll("pods"), metav1.ListOptions{Limit: podsPerPage}, obs.client.CoreV1().Pods(metav1.NamespaceAll).List,
		func(page *corev1.PodList) error {
			for i := range page.Items {
				f.add(&page.Items[i])
			}
			if page.Continue != "" {
				obs.report(fmt.Sprintf("pods: %d so far", f.seen))
			}
			return nil
		})
	obs.snapshot.Cost.Pods = f.seen
	return err
}
