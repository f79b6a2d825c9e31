package cluster

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
)

// readyDeadline is how long a cluster may take from the last join, or from a fault's end, to be ready.
const readyDeadline = 5 * time.Minute

// kubeletSettles is how long after its start a kubelet may still report what was: one
// renewal of its lease.
const kubeletSettles = 10 * time.Second

// saySo is after how long, each time, waiting says what it waits for.
const saySo = 20 * time.Second

// WaitReady waits until every node that is recorded is Ready, and every control
// plane Pod, CoreDNS and kube-proxy with it. It says what it waits for if that does not happen.
func (c *Cluster) WaitReady(ctx context.Context, deadline time.Duration) error {
	return c.wait(ctx, deadline, c.unready)
}

// WaitRecovered is WaitReady after a fault. For half a minute Kubernetes still calls
// a dead node and its Pods ready, and a kubelet that came back takes a moment to say otherwise. So
// every kubelet must have been heard of again some time after now, and every API server
// must answer at its own address.
func (c *Cluster) WaitRecovered(ctx context.Context, deadline time.Duration) error {
	since := time.Now().Add(kubeletSettles)
	return c.wait(ctx, deadline, func(ctx context.Context, client kubernetes.Interface) ([]string, error) {
		silent, err := c.silent(ctx, client, since)
		if err != nil {
			return nil, err
		}
		unready, err := c.unready(ctx, client)
		return append(silent, unready...), err
	})
}

// wait looks again and again until nothing is waited for.
func (c *Cluster) wait(ctx context.Context, deadline time.Duration, look func(context.Context, kubernetes.Interface) ([]string, error)) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	for said := time.Now(); ; {
		waiting, err := lookOnce(ctx, client, look)
		if err == nil && len(waiting) == 0 {
			return nil
		}
		if time.Since(said) > saySo {
			said = time.Now()
			c.t.report.Say("waiting for %s", cmp.Or(strings.Join(waiting, ", "), fmt.Sprint(err)))
		}
		select {
		case <-ctx.Done():
			if err != nil {
				return fmt.Errorf("cluster %s was not ready within %s: %w", c.Name(), deadline, err)
			}
			return fmt.Errorf("cluster %s was not ready within %s: waiting for %s", c.Name(), deadline, strings.Join(waiting, ", "))
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// lookOnce gives one look a time of its own: an API that hangs must not use up the deadline.
func lookOnce(
	ctx context.Context, client kubernetes.Interface, look func(context.Context, kubernetes.Interface) ([]string, error),
) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return look(ctx, client)
}
