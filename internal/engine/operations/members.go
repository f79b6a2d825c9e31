package operations

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// EtcdMembers returns the nodes with a static pod of etcd: those with a ready pod, and the others.
func (c *Cluster) EtcdMembers(ctx context.Context) (ready, unready []string, err error) {
	var pods corev1.PodList
	if err := c.Client.List(ctx, &pods, client.InNamespace("kube-system"), client.MatchingLabels{"component": "etcd"}); err != nil {
		return nil, nil, c.unreadable("the pods of etcd", err)
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; isReady(pod) {
			ready = append(ready, pod.Spec.NodeName)
		} else {
			unready = append(unready, pod.Spec.NodeName)
		}
	}
	return ready, unready, nil
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
