package cluster

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/refit-dev/refit/test/testbed/machine"
	"github.com/refit-dev/refit/test/testbed/versions"
)

//go:embed smoke.yaml
var smokeManifest string

var smokeTemplate = template.Must(template.New("smoke").Parse(smokeManifest))

// The workload of smoke tests and the sampler.
const (
	WorkloadNamespace = "testbed-smoke"
	workloadName      = "web"
	workloadDeadline  = 2 * time.Minute
	serviceDeadline   = 30 * time.Second // until a Service leads to new Pods
)

// DeployWorkload runs a web server with two replicas and a Service, and waits for it. With two
// workers it is spread over them and has a PDB that allows one disruption.
func (c *Cluster) DeployWorkload(ctx context.Context) error { return c.deploy(ctx, "") }

// deploy also runs a Pod on the client's node, if set. The Pod is removed after use, because
// kubectl drain rejects Pods without a controller.
func (c *Cluster) deploy(ctx context.Context, client string) error {
	var manifest bytes.Buffer
	err := smokeTemplate.Execute(&manifest, map[string]any{
		"Namespace": WorkloadNamespace, "Name": workloadName, "Image": versions.BusyboxImage,
		"Spread": c.s.Workers > 1, "Client": client,
	})
	if err != nil {
		return err
	}
	if err := c.apply(ctx, manifest.Bytes()); err != nil {
		return err
	}
	return c.WaitWorkload(ctx)
}

// WaitWorkload waits until every replica of the workload is ready.
func (c *Cluster) WaitWorkload(ctx context.Context) error {
	timeout := "--timeout=" + machine.Timeout(workloadDeadline).String()
	_, err := c.Kubectl(ctx, nil, "--namespace="+WorkloadNamespace, "rollout", "status", "deployment/"+workloadName, timeout)
	return err
}

// apply retries: after a fault the controllers need a moment to elect a leader, and without them a
// new namespace has no service account.
func (c *Cluster) apply(ctx context.Context, manifest []byte) error {
	return retry(ctx, workloadDeadline, func() error {
		_, err := c.Kubectl(ctx, bytes.NewReader(manifest), "apply", "--filename=-")
		return err
	})
}

// retry repeats work until it succeeds, or returns its last error.
func retry(ctx context.Context, limit time.Duration, work func() error) error {
	for until := time.Now().Add(machine.Timeout(limit)); ; {
		err := work()
		if err == nil || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}

// clientNode is the node that sends requests. If there are workers, no replica of the server runs
// on it.
func (c *Cluster) clientNode() *Node { return c.OfRole(RoleControlPlane)[0] }

// WorkloadURL returns the URL of the Service by its cluster IP, for requests from a node.
func (c *Cluster) WorkloadURL(ctx context.Context) (string, error) {
	ip, err := c.Kubectl(ctx, nil, "--namespace="+WorkloadNamespace, "get", "service", workloadName, "--output=jsonpath={.spec.clusterIP}")
	if err != nil {
		return "", err
	}
	return "http://" + string(ip) + "/", nil
}

// Smoke tests the cluster with a workload: a Pod on one node reaches a Service with Pods on other
// nodes by name, and kubectl logs and exec work.
func (c *Cluster) Smoke(ctx context.Context) error {
	if err := c.deploy(ctx, c.clientNode().Name()); err != nil {
		return err
	}
	timeout := "--timeout=" + machine.Timeout(workloadDeadline).String()
	_, err := c.Kubectl(ctx, nil, "--namespace="+WorkloadNamespace, "wait", "--for=condition=Ready", "pod/client", timeout)
	if err == nil {
		err = c.smoke(ctx)
	}
	_, e := c.Kubectl(ctx, nil, "--namespace="+WorkloadNamespace, "delete", "pod", "client", "--wait=true")
	return errors.Join(err, e)
}

func (c *Cluster) smoke(ctx context.Context) error {
	exec := func(args ...string) (string, error) {
		args = append([]string{"--namespace=" + WorkloadNamespace, "exec", "client", "--"}, args...)
		out, err := c.Kubectl(ctx, nil, args...)
		return strings.TrimSpace(string(out)), err
	}
	answer := ""
	// kube-proxy learns of the ready Pods after the API server does.
	err := retry(ctx, serviceDeadline, func() (err error) {
		answer, err = exec("timeout", "5", "wget", "-q", "-O", "-", "http://"+workloadName+"."+WorkloadNamespace+".svc.cluster.local/")
		return err
	})
	if err != nil {
		return fmt.Errorf("a Pod on %s cannot reach the Service by name: %w", c.clientNode().Name(), err)
	}
	server, err := c.Kubectl(ctx, nil, "--namespace="+WorkloadNamespace, "get", "pod", answer, "--output=jsonpath={.spec.nodeName}")
	if err != nil {
		return fmt.Errorf("the Service returned %q, which is not one of its Pods: %w", answer, err)
	}
	if string(server) == c.clientNode().Name() && c.s.Workers > 0 {
		return fmt.Errorf("the response came from the client's own node %s", server)
	}
	if _, err := exec("nslookup", "kubernetes.default.svc.cluster.local"); err != nil {
		return fmt.Errorf("cannot resolve the API server: %w", err)
	}
	logs, err := c.Kubectl(ctx, nil, "--namespace="+WorkloadNamespace, "logs", answer)
	if err != nil {
		return err
	}
	if !strings.Contains(string(logs), "serving "+answer) {
		return fmt.Errorf("the log of Pod %s is %q", answer, logs)
	}
	return nil
}
