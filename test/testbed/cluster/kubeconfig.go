package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/machine"
)

// adminConfig is the path of the admin kubeconfig on a control plane node.
const adminConfig = "/etc/kubernetes/admin.conf"

// KubeconfigFile returns the path of the admin kubeconfig on this machine.
func (c *Cluster) KubeconfigFile() string { return filepath.Join(c.dir(), "kubeconfig") }

// RESTConfig connects to the cluster through its load balancer.
func (c *Cluster) RESTConfig() (*rest.Config, error) {
	return clientcmd.BuildConfigFromFlags("", c.KubeconfigFile())
}

// Client connects to the cluster through its load balancer.
func (c *Cluster) Client() (kubernetes.Interface, error) {
	config, err := c.RESTConfig()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// Release returns the binaries, packages and images of a Kubernetes version in the cache. It has
// rpm packages only for a cluster that was installed from them.
func (c *Cluster) Release(ctx context.Context, kubernetes string) (builder.Release, error) {
	release, err := c.t.builder.Release(ctx, kubernetes)
	if err != nil || c.s.Install != builder.InstallRpm {
		return release, err
	}
	return c.t.builder.WithRpms(ctx, release)
}

// Kubectl runs kubectl of the cluster's version on this machine.
func (c *Cluster) Kubectl(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	return c.kubectl(ctx, c.s.Bin, in, args)
}

// KubectlOf runs kubectl of another release on this machine.
func (c *Cluster) KubectlOf(ctx context.Context, release builder.Release, args ...string) ([]byte, error) {
	return c.kubectl(ctx, release.Bin, nil, args)
}

func (c *Cluster) kubectl(ctx context.Context, bin string, in io.Reader, args []string) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.KubeconfigFile())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &errs
	if err := machine.RunBound(cmd); err != nil {
		return out.Bytes(), fmt.Errorf("kubectl %s: %w%s", strings.Join(args, " "), err, lastLines(errs.String(), 12))
	}
	return out.Bytes(), nil
}
