package observe

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const servicesPerPage = 1000

// readServices finds Services that use deprecated fields, and records which Services exist.
func (obs *observation) readServices(ctx context.Context) error {
	found := map[string]bool{}
	err := pages(ctx, listAll("services"), metav1.ListOptions{Limit: servicesPerPage}, obs.client.CoreV1().Services(metav1.NamespaceAll).List,
		func(page *corev1.ServiceList) error {
			for i := range page.Items {
				s := &page.Items[i]
				found[s.Namespace+"/"+s.Name] = true
				if len(s.Spec.ExternalIPs) > 0 {
					obs.snapshot.Services = append(obs.snapshot.Services, cluster.Service{
						Namespace: s.Namespace, Name: s.Name, ExternalIPs: s.Spec.ExternalIPs,
					})
				}
			}
			return nil
		})
	if err == nil {
		obs.services = found
	}
	return err
}
