package cluster

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// readyDeadline is the timeout for a cluster to be ready after the last join, or after the end of a
// fault.
const readyDeadline = 5 * time.Minute

// kubeletSettles is how long a kubelet may report its previous state after its start: one lease
// renewal.
const kubeletSettles = 10 * time.Second

// waitReportInterval is the interval at which a wait is reported.
const waitReportInterval = 20 * time.Second

// WaitReady waits until every recorded node, every control plane Pod, CoreDNS and kube-proxy are
// ready. An error lists what is not ready.
func (c *Cluster) WaitReady(ctx context.Context, deadline time.Duration) error {
	return c.wait(ctx, deadline, c.unready)
}

// WaitRecovered is WaitReady after a fault. Kubernetes still reports a dead node and its Pods as
// ready for half a minute, so every kubelet must report again after now, and every API server must
// be ready at its own address.
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

// wait checks repeatedly until nothing is unready.
func (c *Cluster) wait(ctx context.Context, deadline time.Duration, check func(context.Context, kubernetes.Interface) ([]string, error)) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	deadline = machine.Timeout(deadline)
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	for reported := time.Now(); ; {
		waiting, err := checkOnce(ctx, client, check)
		if err == nil && len(waiting) == 0 {
			return nil
		}
		if time.Since(reported) > waitReportInterval {
			reported = time.Now()
			c.t.report.Printf("waiting for %s", cmp.Or(strings.Join(waiting, ", "), fmt.Sprint(err)))
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

// checkOnce has its own timeout: an API that hangs must not use up the deadline.
func checkOnce(
	ctx context.Context, client kubernetes.Interface, check func(context.Context, kubernetes.Interface) ([]string, error),
) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, machine.Timeout(5*time.Second))
	defer cancel()
	return check(ctx, client)
}
