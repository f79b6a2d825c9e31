package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// silent lists the kubelets that have not renewed their lease since a time, or since they settled
// after their own start, and the API servers that are not ready.
func (c *Cluster) silent(ctx context.Context, client kubernetes.Interface, since time.Time) (waiting []string, err error) {
	leases, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, n := range c.Nodes() {
		started, err := n.kubeletStarted(ctx)
		if err != nil {
			waiting = append(waiting, err.Error())
			continue
		}
		settled := started.Add(kubeletSettles)
		renewed := slices.ContainsFunc(leases.Items, func(l coordinationv1.Lease) bool {
			return l.Name == n.Name() && l.Spec.RenewTime != nil && l.Spec.RenewTime.After(since) && l.Spec.RenewTime.After(settled)
		})
		if !renewed {
			waiting = append(waiting, "the kubelet on "+n.Name())
		}
	}
	for _, n := range c.OfRole(RoleControlPlane) {
		if err := n.probeAPIServer(ctx); err != nil {
			waiting = append(waiting, fmt.Sprintf("the API server on %s (%v)", n.Name(), err))
		}
	}
	return waiting, nil
}

// kubeletStarted returns the start time of the node's kubelet. After a boot it may be late: systemd
// restarts a failed kubelet after ten seconds.
func (n *Node) kubeletStarted(ctx context.Context) (time.Time, error) {
	out, err := n.Exec(ctx, "systemctl", "show", "kubelet", "--timestamp=unix", "--property=ActiveState,ActiveEnterTimestamp", "--value")
	if err != nil {
		return time.Time{}, err
	}
	var seconds int64
	if _, err := fmt.Sscanf(string(out), "active\n@%d", &seconds); err != nil {
		return time.Time{}, fmt.Errorf("the kubelet on %s is not running", n.Name())
	}
	return time.Unix(seconds, 0), nil
}

// probeAPIServer checks the readiness of the node's own API server.
func (n *Node) probeAPIServer(ctx context.Context) error {
	config, err := n.c.RESTConfig()
	if err != nil {
		return err
	}
	config.Host = fmt.Sprintf("https://%s:%d", n.Address(), apiPort)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

// unready lists what is not ready.
func (c *Cluster) unready(ctx context.Context, client kubernetes.Interface) (waiting []string, err error) {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods, err := client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	dns, err := client.AppsV1().Deployments(metav1.NamespaceSystem).Get(ctx, "coredns", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	for _, n := range c.Nodes() {
		if !nodeReady(nodes.Items, n.Name()) {
			waiting = append(waiting, "node "+n.Name())
			continue
		}
		for _, component := range n.systemPods() {
			if !podReady(pods.Items, n.Name(), component) {
				waiting = append(waiting, component+" on "+n.Name())
			}
		}
	}
	if !rolledOut(dns) {
		waiting = append(waiting, "coredns")
	}
	return waiting, nil
}

// systemPods returns the prefixes of the Pods that kubeadm runs on a node.
func (n *Node) systemPods() []string { return append(n.StaticPods(), "kube-proxy") }

// StaticPods returns the static pods that kubeadm runs on a node.
func (n *Node) StaticPods() []string {
	switch {
	case n.Role() != RoleControlPlane:
		return nil
	case n.c.s.Etcd != "":
		return []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}
	}
	return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"}
}

func nodeReady(nodes []corev1.Node, name string) bool {
	i := slices.IndexFunc(nodes, func(n corev1.Node) bool { return n.Name == name })
	return i >= 0 && NodeReady(nodes[i])
}

// NodeReady reports whether a Node is Ready.
func NodeReady(node corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func podReady(pods []corev1.Pod, node, prefix string) bool {
	return slices.ContainsFunc(pods, func(p corev1.Pod) bool {
		return p.Spec.NodeName == node && strings.HasPrefix(p.Name, prefix+"-") &&
			slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
			})
	})
}

func rolledOut(d *appsv1.Deployment) bool {
	return d.Status.ObservedGeneration >= d.Generation && d.Spec.Replicas != nil &&
		d.Status.AvailableReplicas >= *d.Spec.Replicas && d.Status.UpdatedReplicas >= *d.Spec.Replicas
}
