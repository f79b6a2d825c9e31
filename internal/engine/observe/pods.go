package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podsPerPage bounds the memory: a page is the most pods that are ever held at once.
const podsPerPage = 500

// readPods folds the pods of the cluster, page by page.
func (g *gathering) readPods(ctx context.Context) error {
	f := &fold{g: g, places: map[entry]int{}}
	err := pages(ctx, listAll("pods"), metav1.ListOptions{Limit: podsPerPage}, g.client.CoreV1().Pods(metav1.NamespaceAll).List,
		func(page *corev1.PodList) error {
			for i := range page.Items {
				f.add(&page.Items[i])
			}
			if page.Continue != "" {
				g.tell(fmt.Sprintf("pods: %d so far", f.seen))
			}
			return nil
		})
	g.snapshot.Cost.Pods = f.seen
	return err
}
