package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
)

// importsAtOnce limits the load on the disk and CPUs, so that etcd stays healthy.
const importsAtOnce = 2

// LoadRelease imports the images of a Kubernetes version on every node: all on control plane nodes,
// and those that run on workers on workers.
func (c *Cluster) LoadRelease(ctx context.Context, kubernetes string) error {
	release, err := c.t.builder.Release(ctx, kubernetes)
	if err != nil {
		return err
	}
	return c.LoadImages(ctx, release.Images)
}

// LoadImages imports image archives on every node.
func (c *Cluster) LoadImages(ctx context.Context, archives []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(importsAtOnce)
	for _, n := range c.Nodes() {
		group.Go(func() error {
			for _, archive := range archives {
				if n.Role() == RoleWorker && controlPlaneImage(archive) {
					continue
				}
				if err := n.LoadImage(ctx, archive); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// LoadImage imports one image archive into the node's containerd.
func (n *Node) LoadImage(ctx context.Context, archive string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := n.ExecInput(ctx, f, "ctr", "--namespace=k8s.io", "images", "import", "-"); err != nil {
		return fmt.Errorf("importing %s: %w", filepath.Base(archive), err)
	}
	return nil
}

// controlPlaneImage reports whether an image, by its file name, never runs on a worker.
func controlPlaneImage(archive string) bool {
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"} {
		if strings.Contains(filepath.Base(archive), name) {
			return true
		}
	}
	return false
}
