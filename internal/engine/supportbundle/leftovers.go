package supportbundle

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deleteLeftovers deletes the Pods of runs that were killed. Those of others that are in progress
// are younger than their deadline. An error only means that they remain.
func (r *run) deleteLeftovers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, deleteTimeout)
	defer cancel()
	pods, err := r.Typed.CoreV1().Pods(namespaceAgent).List(ctx, metav1.ListOptions{LabelSelector: podLabels().String()})
	if err != nil {
		r.report(Progress{Activity: fmt.Sprintf("cannot look for Pods of earlier runs: %v", err)})
		return
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; leftover(pod, r.Now()) {
			r.report(Progress{Node: pod.Spec.NodeName, Activity: "deletes the Pod " + pod.Name + " of an earlier run"})
			r.remove(ctx, pod)
		}
	}
}

func leftover(pod *corev1.Pod, now time.Time) bool {
	deadline := time.Hour
	if s := pod.Spec.ActiveDeadlineSeconds; s != nil {
		deadline = time.Duration(*s) * time.Second
	}
	return pod.DeletionTimestamp == nil && now.Sub(pod.CreationTimestamp.Time) > deadline+leftoverAge
}
