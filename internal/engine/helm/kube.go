package helm

import (
	"context"
	"fmt"
	"io"
	"time"

	"helm.sh/helm/v4/pkg/kube"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// A kubeClient is Helm's client of the API server for one action.
type kubeClient struct {
	*kube.Client
	action context.Context
	hooks  time.Duration // left for the hooks of the action
}

// Build never validates. Helm validates by itself only what the API server cannot validate, and
// parses the whole OpenAPI document of each group to find that out.
func (c *kubeClient) Build(reader io.Reader, _ bool) (kube.ResourceList, error) {
	return c.Client.Build(reader, false)
}

// GetWaiter returns the waiter of the hooks.
func (c *kubeClient) GetWaiter(strategy kube.WaitStrategy) (kube.Waiter, error) {
	return c.GetWaiterWithOptions(strategy)
}

// GetWaiterWithOptions returns the waiter of the hooks.
func (c *kubeClient) GetWaiterWithOptions(strategy kube.WaitStrategy, options ...kube.WaitOption) (kube.Waiter, error) {
	waiter, err := c.Client.GetWaiterWithOptions(strategy, append(options, kube.WithWaitContext(c.action))...)
	if err != nil {
		return nil, err
	}
	return &hookWaiter{Waiter: waiter, left: &c.hooks}, nil
}

// A hookWaiter bounds all hooks of an action together; Helm bounds each. The time between two hooks
// does not count: a slow API server is no hook that hangs.
type hookWaiter struct {
	kube.Waiter
	left *time.Duration
}

// WatchUntilReady waits until Jobs and Pods have ended. Other objects are ready once they exist.
func (w *hookWaiter) WatchUntilReady(objects kube.ResourceList, _ time.Duration) error {
	var running kube.ResourceList
	for _, object := range objects {
		switch object.Mapping.GroupVersionKind.GroupKind() {
		case batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), corev1.SchemeGroupVersion.WithKind("Pod").GroupKind():
			running = append(running, object)
		}
	}
	if len(running) == 0 {
		return nil
	}
	if *w.left <= 0 {
		return fmt.Errorf("cannot wait for %s: hooks before it used the whole timeout", running[0].ObjectName())
	}
	started := time.Now()
	defer func() { *w.left -= time.Since(started) }()
	return w.Waiter.WatchUntilReady(running, *w.left)
}
