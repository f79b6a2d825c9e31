package bare

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// part is one step of the documentation.
type part struct {
	name string
	work func(context.Context) error
}

// parts returns the parts of a node, in order.
func (u *upgrade) parts(n *cluster.Node, first bool) []part {
	upgradeNode := part{"kubeadm upgrade node", func(ctx context.Context) error {
		return n.Kubeadm(ctx, "upgrade", "node", "--ignore-preflight-errors="+cluster.IgnoredPreflight)
	}}
	if first {
		upgradeNode = part{"kubeadm upgrade apply", func(ctx context.Context) error {
			return n.Kubeadm(ctx, "upgrade", "apply", u.to.Kubernetes, "--yes", "--ignore-preflight-errors="+cluster.IgnoredPreflight)
		}}
	}
	return []part{
		{"install kubeadm", func(ctx context.Context) error { return u.install(ctx, n, "kubeadm") }},
		upgradeNode,
		{"drain", func(ctx context.Context) error {
			return u.kubectl(ctx, "drain", n.Name(), "--ignore-daemonsets", "--delete-emptydir-data")
		}},
		{"install kubelet and kubectl", func(ctx context.Context) error { return u.install(ctx, n, "kubelet", "kubectl") }},
		{"restart kubelet", func(ctx context.Context) error { return u.restartKubelet(ctx, n) }},
		{"uncordon", func(ctx context.Context) error { return u.kubectl(ctx, "uncordon", n.Name()) }},
	}
}

func (u *upgrade) kubectl(ctx context.Context, args ...string) error {
	_, err := u.c.KubectlOf(ctx, u.to, args...)
	return err
}

// install installs binaries of the target version on the node, the way they were installed before.
func (u *upgrade) install(ctx context.Context, n *cluster.Node, binaries ...string) error {
	switch u.c.Spec().Install {
	case builder.InstallDeb:
		return u.installDeb(ctx, n, binaries)
	case builder.InstallRpm:
		return u.installRpm(ctx, n, binaries)
	}
	for _, binary := range binaries {
		path := "/usr/local/bin/" + binary
		if err := n.CopyTo(ctx, filepath.Join(u.to.Bin, binary), path+".new"); err != nil {
			return err
		}
		// The file of a running binary cannot be written, but it can be replaced.
		if _, err := n.Exec(ctx, "mv", path+".new", path); err != nil {
			return err
		}
	}
	return nil
}

func (u *upgrade) installDeb(ctx context.Context, n *cluster.Node, packages []string) error {
	var pinned []string
	for _, p := range packages {
		pinned = append(pinned, p+"="+u.to.PackageVersion())
	}
	for _, argv := range [][]string{
		append([]string{"apt-mark", "unhold"}, packages...),
		{"apt-get", "update"},
		append([]string{"apt-get", "install", "--yes"}, pinned...),
		append([]string{"apt-mark", "hold"}, packages...),
	} {
		if _, err := n.Exec(ctx, argv...); err != nil {
			return err
		}
	}
	return nil
}

// installRpm runs rpm, which does not know the versions that dnf has locked.
func (u *upgrade) installRpm(ctx context.Context, n *cluster.Node, packages []string) error {
	argv := []string{"rpm", "--upgrade"}
	for _, file := range u.to.Rpms {
		name := filepath.Base(file)
		if !slices.ContainsFunc(packages, func(p string) bool { return strings.HasPrefix(name, p+"-"+strings.TrimPrefix(u.to.Kubernetes, "v")) }) {
			continue
		}
		if err := n.CopyTo(ctx, file, "/root/"+name); err != nil {
			return err
		}
		argv = append(argv, "/root/"+name)
	}
	_, err := n.Exec(ctx, argv...)
	return err
}

// restartKubelet restarts the kubelet and waits until the node is Ready at the new version.
func (u *upgrade) restartKubelet(ctx context.Context, n *cluster.Node) error {
	if _, err := n.Exec(ctx, "systemctl", "daemon-reload"); err != nil {
		return err
	}
	if _, err := n.Exec(ctx, "systemctl", "restart", "kubelet"); err != nil {
		return err
	}
	client, err := u.c.Client()
	if err != nil {
		return err
	}
	var last string
	for {
		got, err := client.CoreV1().Nodes().Get(ctx, n.Name(), metav1.GetOptions{})
		switch {
		case err != nil:
			last = err.Error()
		case got.Status.NodeInfo.KubeletVersion == u.to.Kubernetes && cluster.NodeReady(*got):
			return nil
		default:
			last = "kubelet at " + got.Status.NodeInfo.KubeletVersion
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("node %s is not Ready at %s (%s): %w", n.Name(), u.to.Kubernetes, last, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
