package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// readyDeadline is how long a cluster may take from the last join, or from a fault's end, to be ready.
const readyDeadline = 5 * time.Minute

// saySo is after how long, each time, waiting says what it waits for.
const saySo = 20 * time.Second

// WaitReady waits until every node that is recorded is Ready, and every control
// plane Pod, CoreDNS and kube-proxy with it. It says what it waits for if that does not happen.
func (c *Cluster) WaitReady(ctx context.Context, deadline time.Duration) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	for said := time.Now(); ; {
		waiting, err := c.unready(ctx, client)
		if err == nil && len(waiting) == 0 {
			return nil
		}
		if time.Since(said) > saySo {
			said = time.Now()
			c.t.report.Say("waiting for %s", cmp.Or(strings.Join(waiting, ", "), fmt.Sprint(err)))
		}
		select {
		case <-ctx.Done():
			if err != nil {
				return fmt.Errorf("cluster %s was not ready within %s: %w", c.Name(), deadline, err)
			}
			return fmt.Errorf("cluster %s was not ready within %s: waiting for %s", c.Name(), deadline, strings.Join(waiting, ", "))
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// unready lists what is not ready yet.
func (c *Cluster) unready(ctx context.Context, client kubernetes.Interface) (waiting []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
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
		for _, component := range systemPods(n.Role()) {
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

// systemPods are the Pods that kubeadm puts on a node of the role, by the beginning of their names.
func systemPods(role string) []string {
	if role == RoleControlPlane {
		return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"}
	}
	return []string{"kube-proxy"}
}

func nodeReady(nodes []corev1.Node, name string) bool {
	i := slices.IndexFunc(nodes, func(n corev1.Node) bool { return n.Name == name })
	return i >= 0 && NodeReady(nodes[i])
}

// NodeReady tells whether Kubernetes calls a node Ready.
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
