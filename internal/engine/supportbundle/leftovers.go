package supportbundle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// serverClock has a time of the API server: that of the first Pod that this run created. The clock
// of this machine may differ, so that the Pods of others in progress would look like leftovers.
type serverClock struct {
	mu   sync.Mutex
	seen time.Time // zero if no Pod was created
}

func (c *serverClock) note(created time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen.IsZero() || created.Before(c.seen) {
		c.seen = created
	}
}

func (c *serverClock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen
}

// deleteLeftovers deletes the Pods of runs that were killed. Those of others that are in progress
// are younger than their deadline. An error only means that they remain.
func (r *run) deleteLeftovers(ctx context.Context) {
	now := r.clock.time()
	if now.IsZero() || errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	pods, err := r.Typed.CoreV1().Pods(namespaceAgent).List(ctx, metav1.ListOptions{LabelSelector: podLabels().String()})
	if err != nil {
		r.report(Progress{Activity: fmt.Sprintf("cannot look for Pods of earlier runs: %v", err)})
		return
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; ctx.Err() == nil && leftover(pod, now) {
			r.report(Progress{Node: pod.Spec.NodeName, Activity: "deletes the Pod " + pod.Name + " of an earlier run"})
			r.remove(ctx, pod)
		}
	}
}

// leftover is true for a Pod beyond its deadline, at a time of the API server.
func leftover(pod *corev1.Pod, now time.Time) bool {
	deadline := time.Hour
	if s := pod.Spec.ActiveDeadlineSeconds; s != nil {
		deadline = time.Duration(*s) * time.Second
	}
	return pod.DeletionTimestamp == nil && now.Sub(pod.CreationTimestamp.Time) > deadline+leftoverAge
}
