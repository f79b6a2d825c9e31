package bare

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/sample"
)

const (
	// quietTime is how long every node must reach the Service and the API before a measurement.
	quietTime = 5 * time.Second
	// settleTimeout bounds the wait for it.
	settleTimeout = 2 * time.Minute
)

// StartSampler deploys the smoke workload, waits until every node reaches it, and samples it from
// every node, and the API through the endpoint.
func StartSampler(ctx context.Context, c *cluster.Cluster) (*sample.Sampler, error) {
	if err := c.DeployWorkload(ctx); err != nil {
		return nil, err
	}
	url, err := c.WorkloadURL(ctx)
	if err != nil {
		return nil, err
	}
	config, err := c.RESTConfig()
	if err != nil {
		return nil, err
	}
	from := map[string]sample.DialFunc{}
	for _, n := range c.Nodes() {
		from[n.Name()] = n.Dial
	}
	// Every kubeadm cluster has the ConfigMap kubeadm-config.
	what := sample.Config{API: config, Namespace: "kube-system", ConfigMap: "kubeadm-config", ServiceURL: url, From: from}
	settling, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	if err := sample.Settle(settling, what, quietTime); err != nil {
		return nil, err
	}
	return sample.Start(context.WithoutCancel(ctx), what) // the caller needs the report after ctx ends
}

// SampleHealthyNodes excludes nodes that are cordoned, and therefore being upgraded, or off, until
// the context ends. While the API is unavailable, the last known state counts.
func SampleHealthyNodes(ctx context.Context, c *cluster.Cluster, s *sample.Sampler) {
	cordoned := map[string]bool{}
	for ctx.Err() == nil {
		if nodes, err := listNodes(ctx, c); err == nil {
			for _, n := range nodes {
				cordoned[n.Name] = n.Spec.Unschedulable
			}
		}
		for _, n := range c.Nodes() {
			change := s.Include
			if cordoned[n.Name()] || n.State() != "running" {
				change = s.Exclude
			}
			_ = change(n.Name()) // fails only for nodes that are not sampled
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func listNodes(ctx context.Context, c *cluster.Cluster) ([]corev1.Node, error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
