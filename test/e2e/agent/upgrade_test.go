//go:build e2e

package agent

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed/bare"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestAgentUpgrades takes a cluster of each kind of host to the newer version by orders alone, and the first of them on to the newest.
func TestAgentUpgrades(t *testing.T) {
	t.Run("binaries", func(t *testing.T) {
		b := newBed(t, cluster.Spec{Name: "abin", ControlPlanes: 3, Workers: 2, Kubernetes: older, Install: builder.InstallBinaries, Containerd: builder.ContainerdBuilt})
		b.upgradeAll(t, newer, "agent_upgrade_3_2")
		b.upgradeAll(t, newest, "agent_upgrade_3_2_newest")
	})
	t.Run("packages and containerd", func(t *testing.T) {
		b := newBed(t, cluster.Spec{Name: "adeb", ControlPlanes: 3, Workers: 2, Kubernetes: older, Install: builder.InstallDeb, Containerd: builder.ContainerdDebian})
		b.upgradeAll(t, newer, "agent_upgrade_3_2_deb")
		for _, n := range b.Nodes() {
			must(t, b.runtimeAt(t.Context(), n, "containerd://2.4.2"))
		}
	})
}

// upgradeAll moves every node, control planes first, one at a time, and holds the whole cluster against the release.
func (b *bed) upgradeAll(t *testing.T, version, name string) {
	t.Helper()
	must(t, b.Smoke(t.Context()))
	r := b.release(t, version)
	begun := time.Now()
	b.prefetch(t, r, b.Nodes()...)
	show(t, name+"_prefetch", time.Since(begun).Seconds(), "s")

	sampler, err := bare.StartSampler(t.Context(), b.Cluster)
	must(t, err)
	t.Cleanup(func() { sampler.Stop() })
	begun = time.Now()
	for _, n := range b.Nodes() {
		must(t, sampler.Exclude(n.Name()))
		took := b.apply(t, n)
		t.Logf("%s is at %s after %.1f s", n.Name(), version, took.Seconds())
		must(t, sampler.Include(n.Name()))
	}
	show(t, name, time.Since(begun).Seconds(), "s")
	must(t, b.WaitWorkload(t.Context()))
	report := sampler.Stop()
	showGaps(t, name, "all", report)

	must(t, b.RecordRelease(r.parts))
	b.isAt(t, r)
}

// isAt waits for what Kubernetes itself takes a moment for, and then holds the whole cluster against the release.
func (b *bed) isAt(t *testing.T, r *release) {
	t.Helper()
	must(t, b.WaitReady(t.Context(), recovery))
	for _, n := range b.Nodes() {
		must(t, until(t.Context(), n.Name()+" to be at the release", patience, func(ctx context.Context) error { return b.atRelease(ctx, n, r) }))
	}
	must(t, b.addonsAt(t.Context(), r))
	must(t, b.Smoke(t.Context()))
}

// prefetch orders nodes to fetch a release, all at once.
func (b *bed) prefetch(t *testing.T, r *release, nodes ...*cluster.Node) {
	t.Helper()
	for _, n := range nodes {
		b.order(t, n, permit(refitv1alpha1.PermitPrefetch), to(r))
	}
	onNodes(t, nodes, func(ctx context.Context, n *cluster.Node) error {
		_, err := b.waitPhase(ctx, n, fetching, refitv1alpha1.NodePrefetched)
		return err
	})
}

// apply orders one node to change and returns how long it took.
func (b *bed) apply(t *testing.T, n *cluster.Node) time.Duration {
	t.Helper()
	begun := time.Now()
	b.order(t, n, permit(refitv1alpha1.PermitApply))
	b.mustPhase(t, n, changing, refitv1alpha1.NodeSucceeded)
	return time.Since(begun)
}

// addonsAt looks at what the cluster-wide phases of kubeadm leave.
func (b *bed) addonsAt(ctx context.Context, r *release) error {
	var errs []error
	dns, err := b.client.AppsV1().Deployments(metav1.NamespaceSystem).Get(ctx, "coredns", metav1.GetOptions{})
	if err != nil {
		return err
	}
	proxy, err := b.client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(ctx, "kube-proxy", metav1.GetOptions{})
	if err != nil {
		return err
	}
	want := map[string]string{}
	for _, image := range r.parts.KubeadmImages() {
		want[nameOf(image)] = image
	}
	for _, image := range []string{dns.Spec.Template.Spec.Containers[0].Image, proxy.Spec.Template.Spec.Containers[0].Image} {
		if image != want[nameOf(image)] {
			errs = append(errs, fmt.Errorf("an addon is of %s, want %s", image, want[nameOf(image)]))
		}
	}
	config, err := b.client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "kubeadm-config", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := mentions(config.Data["ClusterConfiguration"], "kubernetesVersion: "+r.parts.Kubernetes); err != nil {
		errs = append(errs, fmt.Errorf("the ConfigMap kubeadm-config: %w", err))
	}
	return errors.Join(errs...)
}

// runtimeAt asks the API which container runtime a node has.
func (b *bed) runtimeAt(ctx context.Context, n *cluster.Node, version string) error {
	return until(ctx, n.Name()+" to report its runtime", patience, func(ctx context.Context) error {
		node, err := b.client.CoreV1().Nodes().Get(ctx, n.Name(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		return mentions(node.Status.NodeInfo.ContainerRuntimeVersion, version)
	})
}
