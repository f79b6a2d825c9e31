package drain

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// requestTimeout bounds one request. The API itself retries for up to 20 seconds when many requests
// need the same budget.
const requestTimeout = 30 * time.Second

// evict evicts a pod if its budget allows it. The library does not retry: this package decides
// when.
func (d *Drainer) evict(ctx context.Context, t task) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return d.client.PolicyV1().RESTClient().Post().AbsPath("/api/v1").Namespace(t.key.Namespace).Resource("pods").Name(t.key.Name).SubResource("eviction").
		MaxRetries(0).
		Body(&policyv1.Eviction{
			ObjectMeta:    metav1.ObjectMeta{Namespace: t.key.Namespace, Name: t.key.Name},
			DeleteOptions: onlyThisPod(t),
		}).
		Do(ctx).Error()
}

// deletePod deletes a pod whatever its budget allows, with its own grace period.
func (d *Drainer) deletePod(ctx context.Context, t task) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return d.client.CoreV1().RESTClient().Delete().Namespace(t.key.Namespace).Resource("pods").Name(t.key.Name).
		MaxRetries(0).
		Body(onlyThisPod(t)).
		Do(ctx).Error()
}

// onlyThisPod prevents that a request deletes another pod of the same name.
func onlyThisPod(t task) *metav1.DeleteOptions {
	return metav1.NewPreconditionDeleteOptions(string(t.uid))
}

func (d *Drainer) listBudgets(ctx context.Context, namespace string) ([]policyv1.PodDisruptionBudget, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	found, err := d.client.PolicyV1().PodDisruptionBudgets(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot list the PodDisruptionBudgets of namespace %s: %w", namespace, err)
	}
	return found.Items, nil
}

// listPods reads the pods of a node from the API, not from a cache.
func (d *Drainer) listPods(ctx context.Context, node string) ([]*corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	found, err := d.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: onNode(node)})
	if err != nil {
		return nil, fmt.Errorf("cannot list the pods of node %s: %w", node, err)
	}
	pods := make([]*corev1.Pod, 0, len(found.Items))
	for i := range found.Items {
		pods = append(pods, trim(&found.Items[i]))
	}
	return pods, nil
}
