package kubeadm

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// nodesPerPage bounds one answer of a large cluster.
const nodesPerPage = 500

// Relying lists the other nodes whose kubelet or API server is at a version or beyond it: they rely
// on what an upgrade to that version wrote into the cluster. A version that cannot be read counts
// as relying.
func Relying(ctx context.Context, client kubernetes.Interface, nodeName, version string) ([]string, error) {
	want, err := skew.Parse(version)
	if err != nil {
		return nil, err
	}
	reached := func(version string) bool {
		v, err := skew.Parse(version)
		return err != nil || !v.Before(want)
	}
	nodes, err := nodesWhere(ctx, client, func(n *corev1.Node) bool { return reached(n.Status.NodeInfo.KubeletVersion) })
	if err != nil {
		return nil, err
	}
	servers, err := apiServersWhere(ctx, client, reached)
	if err != nil {
		return nil, err
	}
	names := namesOf(nodes)
	names = slices.Concat(names, servers)
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == nodeName }), nil
}

func nodesWhere(ctx context.Context, client kubernetes.Interface, matches func(*corev1.Node) bool) ([]corev1.Node, error) {
	var nodes []corev1.Node
	for options := (metav1.ListOptions{Limit: nodesPerPage}); ; {
		page, err := client.CoreV1().Nodes().List(ctx, options)
		if err != nil {
			return nil, apiFailure(err, "cannot list the nodes")
		}
		for i := range page.Items {
			if matches(&page.Items[i]) {
				nodes = append(nodes, page.Items[i])
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return nodes, nil
		}
	}
}

func namesOf(nodes []corev1.Node) []string {
	var names []string
	for i := range nodes {
		names = append(names, nodes[i].Name)
	}
	return names
}

// apiServersWhere reads the mirror pods of kubeadm's API servers: a control plane node can have a
// new one and an old kubelet.
func apiServersWhere(ctx context.Context, client kubernetes.Interface, reached func(string) bool) ([]string, error) {
	pods, err := client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{LabelSelector: "component=" + APIServer})
	if err != nil {
		return nil, apiFailure(err, "cannot list the API servers")
	}
	var names []string
	for i := range pods.Items {
		for _, c := range pods.Items[i].Spec.Containers {
			if _, tag := splitImage(c.Image); c.Name == APIServer && reached(tag) {
				names = append(names, pods.Items[i].Spec.NodeName)
			}
		}
	}
	return names, nil
}
