package bed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// IsAt waits for the changes that Kubernetes makes asynchronously, then verifies the whole cluster
// against the release.
func (b *Bed) IsAt(t *testing.T, r *Release) {
	t.Helper()
	Must(t, b.WaitReady(t.Context(), Recovery))
	for _, n := range b.Nodes() {
		Must(t, Until(t.Context(), n.Name()+" to be at the release", CheckTimeout, func(ctx context.Context) error { return b.AtRelease(ctx, n, r) }))
	}
	Must(t, b.addonsAt(t.Context(), r))
	Must(t, b.Smoke(t.Context()))
}

// AtRelease returns an error if a node differs from the release, according to the host or to the
// API.
func (b *Bed) AtRelease(ctx context.Context, n *cluster.Node, r *Release) error {
	return errors.Join(
		b.NodeAt(ctx, n, r.Parts.Kubernetes),
		b.podsAt(ctx, n, r.Parts),
		b.filesAt(ctx, n, r),
		nothingLeft(ctx, n),
		packagesClean(ctx, n),
	)
}

// NodeAt verifies the version of a node according to the API.
func (b *Bed) NodeAt(ctx context.Context, n *cluster.Node, version string) error {
	node, err := b.Client.CoreV1().Nodes().Get(ctx, n.Name(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if at := node.Status.NodeInfo.KubeletVersion; at != version || !cluster.NodeReady(*node) || node.Spec.Unschedulable {
		return fmt.Errorf("%s is at %s, ready %t, cordoned %t", n.Name(), at, cluster.NodeReady(*node), node.Spec.Unschedulable)
	}
	return nil
}

// podsAt checks the static pods of a control plane node, and the kube-proxy of any node.
func (b *Bed) podsAt(ctx context.Context, n *cluster.Node, parts builder.Release) error {
	want := map[string]string{}
	for _, image := range parts.KubeadmImages() {
		want[nameOf(image)] = image
	}
	pods, err := b.Client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + n.Name()})
	if err != nil {
		return err
	}
	var errs []error
	seen := map[string]bool{}
	for _, p := range pods.Items {
		image := p.Spec.Containers[0].Image
		name := nameOf(image)
		if name == "coredns" || p.DeletionTimestamp != nil || want[name] == "" {
			continue
		}
		seen[name] = true
		if image != want[name] || !podReady(p) {
			errs = append(errs, fmt.Errorf("pod %s is of %s, want %s, ready: %t", p.Name, image, want[name], podReady(p)))
		}
	}
	for _, name := range append(n.StaticPods(), "kube-proxy") {
		if !seen[name] {
			errs = append(errs, fmt.Errorf("no pod of %s is on %s", name, n.Name()))
		}
	}
	return errors.Join(errs...)
}

func podReady(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// nameOf returns kube-apiserver for registry.k8s.io/kube-apiserver:v1.36.3.
func nameOf(image string) string {
	name, _, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return name
}

// addonsAt checks the results of kubeadm's cluster-wide phases.
func (b *Bed) addonsAt(ctx context.Context, r *Release) error {
	var errs []error
	dns, err := b.Client.AppsV1().Deployments(metav1.NamespaceSystem).Get(ctx, "coredns", metav1.GetOptions{})
	if err != nil {
		return err
	}
	proxy, err := b.Client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(ctx, "kube-proxy", metav1.GetOptions{})
	if err != nil {
		return err
	}
	want := map[string]string{}
	for _, image := range r.Parts.KubeadmImages() {
		want[nameOf(image)] = image
	}
	for _, image := range []string{dns.Spec.Template.Spec.Containers[0].Image, proxy.Spec.Template.Spec.Containers[0].Image} {
		if image != want[nameOf(image)] {
			errs = append(errs, fmt.Errorf("an addon is of %s, want %s", image, want[nameOf(image)]))
		}
	}
	config, err := b.Client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "kubeadm-config", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := Mentions(config.Data["ClusterConfiguration"], "kubernetesVersion: "+r.Parts.Kubernetes); err != nil {
		errs = append(errs, fmt.Errorf("the ConfigMap kubeadm-config: %w", err))
	}
	return errors.Join(errs...)
}

// RuntimeAt verifies the container runtime of a node according to the API.
func (b *Bed) RuntimeAt(ctx context.Context, n *cluster.Node, version string) error {
	return Until(ctx, n.Name()+" to report its runtime", CheckTimeout, func(ctx context.Context) error {
		node, err := b.Client.CoreV1().Nodes().Get(ctx, n.Name(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		return Mentions(node.Status.NodeInfo.ContainerRuntimeVersion, version)
	})
}
