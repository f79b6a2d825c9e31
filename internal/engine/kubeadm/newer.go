package kubeadm

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// controlPlaneLabel is the label of kubeadm's control plane nodes.
const controlPlaneLabel = "node-role.kubernetes.io/control-plane"

// Newer lists nodes whose kubelet is newer than an API server that it may reach.
type Newer struct{ Workers, ControlPlane []string }

// NewerKubelets lists the other nodes whose kubelet has a newer minor version than an API server,
// or one that cannot be read. The version skew policy does not support them: a kubelet reaches
// every API server through the load balancer, so the oldest one counts.
func NewerKubelets(ctx context.Context, client kubernetes.Interface, nodeName, apiServer string) (Newer, error) {
	server, err := skew.Parse(apiServer)
	if err != nil {
		return Newer{}, err
	}
	nodes, err := nodesWhere(ctx, client, func(n *corev1.Node) bool {
		return n.Name != nodeName && isNewer(n.Status.NodeInfo.KubeletVersion, server)
	})
	if err != nil {
		return Newer{}, err
	}
	// A label can be missing, and so can the mirror pod of an API server that is down.
	servers, err := apiServersWhere(ctx, client, func(string) bool { return true })
	if err != nil {
		return Newer{}, err
	}
	var out Newer
	for i := range nodes {
		if _, labeled := nodes[i].Labels[controlPlaneLabel]; labeled || slices.Contains(servers, nodes[i].Name) {
			out.ControlPlane = append(out.ControlPlane, nodes[i].Name)
		} else {
			out.Workers = append(out.Workers, nodes[i].Name)
		}
	}
	slices.Sort(out.Workers)
	slices.Sort(out.ControlPlane)
	return out, nil
}

// isNewer counts an unreadable version as newer. A node without one has no kubelet yet.
func isNewer(kubelet string, server skew.Version) bool {
	v, err := skew.Parse(kubelet)
	return kubelet != "" && (err != nil || v.MinorsBehind(server) < 0)
}
