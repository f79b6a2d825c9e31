package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The names of the resources in URLs.
const (
	nodes        = "nodes"
	nodeUpgrades = "nodeupgrades"
	nodeReports  = "nodereports"
	releases     = "clusterreleases"
	operations   = "clusterupgrades"
)

// Release reads a ClusterRelease.
func (c *Client) Release(ctx context.Context, name string) (*refitv1alpha1.ClusterRelease, error) {
	found := &refitv1alpha1.ClusterRelease{}
	return found, c.get(ctx, func(u *connection) rest.Interface { return u.refit }, releases, name, found)
}

// Operation reads a ClusterUpgrade as it is now: without a resourceVersion, the request is not
// answered from a cache.
func (c *Client) Operation(ctx context.Context, name string) (*refitv1alpha1.ClusterUpgrade, error) {
	found := &refitv1alpha1.ClusterUpgrade{}
	return found, c.get(ctx, func(u *connection) rest.Interface { return u.refit }, operations, name, found)
}

// Node reads the Node of this host.
func (c *Client) Node(ctx context.Context) (*corev1.Node, error) {
	found := &corev1.Node{}
	return found, c.get(ctx, func(u *connection) rest.Interface { return u.core }, nodes, c.nodeName, found)
}

func (c *Client) get(ctx context.Context, of func(*connection) rest.Interface, resource, name string, into runtime.Object) error {
	use, err := c.current()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if err := c.after(use, of(use).Get().Resource(resource).Name(name).Do(ctx).Into(into)); err != nil {
		return fmt.Errorf("cannot read %s %s: %w", resource, name, err)
	}
	return nil
}

// KubeadmConfig returns the data of the ConfigMap with kubeadm's configuration, which kubeadm lets
// nodes read.
func (c *Client) KubeadmConfig(ctx context.Context) (map[string]string, error) {
	use, err := c.current()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	found := &corev1.ConfigMap{}
	request := use.core.Get().Namespace("kube-system").Resource("configmaps").Name("kubeadm-config")
	if err := c.after(use, request.Do(ctx).Into(found)); err != nil {
		return nil, fmt.Errorf("cannot read the kubeadm configuration: %w", err)
	}
	return found.Data, nil
}

// maxResponse limits the size of a response.
const maxResponse = 1 << 20

// Get requests a path from an API server at its own address, such as https://10.0.0.1:6443, with
// the node's identity. It returns any response without an error, whatever its status code.
func (c *Client) Get(ctx context.Context, server, path string) (code int, body []byte, err error) {
	use, err := c.current()
	if err != nil {
		return 0, nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(server, "/")+path, http.NoBody)
	if err != nil {
		return 0, nil, fmt.Errorf("cannot reach %s: %w", server, err)
	}
	response, err := use.http.Do(request)
	if err != nil {
		return 0, nil, fmt.Errorf("cannot reach %s: %w", server, err)
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return 0, nil, fmt.Errorf("cannot read the response of %s: %w", server, err)
	}
	return response.StatusCode, body, nil
}
