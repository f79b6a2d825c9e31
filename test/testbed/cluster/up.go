package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/machine"
)

// tools are required on the machine to create clusters.
var tools = []machine.Tool{
	{Name: "haproxy", Package: "haproxy"},
	{Name: "mkfs.ext4", Package: "e2fsprogs"},
	{Name: "modprobe", Package: "kmod"},
	{Name: "mount", Package: "mount"},
	{Name: "nsenter", Package: "util-linux"},
	{Name: "systemd-nspawn", Package: "systemd-container"},
	{Name: "tar", Package: "tar"},
}

// Up creates a cluster and returns when it is ready. If that fails, the cluster is removed, unless
// keep is set.
func (t *Testbed) Up(ctx context.Context, spec Spec, keep bool) (*Cluster, error) {
	c, release, err := t.make(ctx, spec, PhaseUp, keep)
	if release != nil {
		release()
	}
	return c, err
}

// Borrow creates a cluster for this process: it stays locked, and prune removes it if the process
// dies.
func (t *Testbed) Borrow(ctx context.Context, spec Spec, keep bool) (*Cluster, error) {
	phase := PhaseBorrowed
	if keep {
		phase = PhaseUp
	}
	c, release, err := t.make(ctx, spec, phase, keep)
	if c != nil {
		c.release = release
	}
	return c, err
}

// make creates a cluster and returns with its busy lock held, if it got that far.
func (t *Testbed) make(ctx context.Context, spec Spec, phase string, keep bool) (c *Cluster, release func(), err error) {
	spec.Default()
	if err := spec.Validate(); err != nil {
		return nil, nil, err
	}
	if err := machine.Require(slices.Concat(tools, builder.Tools)...); err != nil {
		return nil, nil, err
	}
	image, err := t.builder.NodeImage(ctx, spec.Image())
	if err != nil {
		return nil, nil, err
	}
	kubernetes, err := t.builder.Release(ctx, spec.Kubernetes)
	if err != nil {
		return nil, nil, err
	}
	s, release, err := t.claim(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	s.Root, s.Apt, s.Bin = image.Root, t.builder.AptRepository(), kubernetes.Bin
	c = &Cluster{t: t, s: s}
	err = c.up(ctx, image, kubernetes.EtcdBin)
	if err == nil {
		s.Phase = phase
		err = t.save(s)
	}
	if err != nil && !keep {
		c.Diagnose(context.WithoutCancel(ctx), t.report)
		t.report.Printf("removing the incomplete cluster %s", c.Name())
		// The context may have ended; the removal must not fail because of that.
		err = errors.Join(err, c.remove(context.WithoutCancel(ctx)))
	}
	return c, release, err
}

func (c *Cluster) up(ctx context.Context, image builder.NodeImage, etcd string) error {
	if err := c.t.save(c.s); err != nil {
		return err
	}
	var joinWith secrets
	first := c.OfRole(RoleControlPlane)[0]
	steps := []struct {
		name    string
		usually time.Duration
		work    func() error
	}{
		{"bridge and load balancer", 0, func() error { return c.ensureMachine(ctx) }},
		{fmt.Sprintf("booting %d nodes", len(c.Hosts())), 0, func() error { return c.bootNodes(ctx, image) }},
		{"starting an external etcd", 0, func() error { return c.installEtcd(ctx, etcd) }},
		{"installing the layout of files", 0, func() error { return c.installLayout(ctx) }},
		{"installing what moves the virtual IP", 0, func() error { return c.installVIP(ctx) }},
		{"kubeadm init on " + first.Name(), 15 * time.Second, func() (err error) {
			if joinWith, err = first.initialize(ctx); err != nil {
				return err
			}
			return first.runKubeVIP(ctx, adminConfig)
		}},
		{"reading the kubeconfig", 0, func() error { return first.CopyFrom(ctx, adminConfig, c.KubeconfigFile()) }},
		{"joining the other nodes", 0, func() error { return c.joinNodes(ctx, joinWith) }},
		{"spreading CoreDNS across nodes", 0, func() error { return c.spreadDNS(ctx) }},
		{"waiting for all nodes and Pods", 20 * time.Second, func() error { return c.WaitReady(ctx, readyDeadline) }},
	}
	for _, step := range steps {
		if err := c.t.report.Step(step.name, step.usually, step.work); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) bootNodes(ctx context.Context, image builder.NodeImage) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, n := range c.Hosts() {
		group.Go(func() error {
			if err := n.create(ctx, image); err != nil {
				return err
			}
			return n.Start(ctx)
		})
	}
	return group.Wait()
}

// joinNodes joins workers concurrently with control plane nodes, and control plane nodes one at a
// time: etcd adds one member at a time.
func (c *Cluster) joinNodes(ctx context.Context, s secrets) error {
	group, ctx := errgroup.WithContext(ctx)
	join := func(n *Node) error {
		return c.t.report.Step("kubeadm join on "+n.Name(), 0, func() error {
			if err := n.join(ctx, s); err != nil || n.Role() != RoleControlPlane {
				return err
			}
			return n.runKubeVIP(ctx, adminConfig)
		})
	}
	group.Go(func() error {
		for _, n := range c.OfRole(RoleControlPlane)[1:] {
			if err := join(n); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		for _, n := range c.OfRole(RoleWorker) {
			if err := join(n); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// spreadDNS restarts CoreDNS, as the kubeadm documentation recommends: both Pods were scheduled to
// the first node.
func (c *Cluster) spreadDNS(ctx context.Context) error {
	if len(c.s.Nodes) == 1 {
		return nil
	}
	_, err := c.Kubectl(ctx, nil, "--namespace=kube-system", "rollout", "restart", "deployment/coredns")
	return err
}
