package kubeadm

import (
	"context"
	"slices"

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
	names, err := kubeletsWhere(ctx, client, reached)
	if err != nil {
		return nil, apiFailure(err, "cannot list the nodes")
	}
	servers, err := apiServersWhere(ctx, client, reached)
	if err != nil {
		return nil, apiFailure(err, "cannot list the API servers")
	}
	names = slices.Concat(names, servers)
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == nodeName }), nil
}

func kubeletsWhere(ctx context.Context, client kubernetes.Interface, reached func(string) bool) ([]string, error) {
	var names []string
	for options := (metav1.ListOptions{Limit: nodesPerPage}); ; {
		page, err := client.CoreV1().Nodes().List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			if reached(page.Items[i].Status.NodeInfo.KubeletVersion) {
				names = append(names, page.Items[i].Name)
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return names, nil
		}
	}
}

// apiServersWhere reads the mirror pods of kubeadm's API servers: a control plane node can have a
// new one and an old kubelet.
func apiServersWhere(ctx context.Context, client kubernetes.Interface, reached func(string) bool) ([]string, error) {
	pods, err := client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{LabelSelector: "component=" + APIServer})
	if err != nil {
		return nil, err
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
