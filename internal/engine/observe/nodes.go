package observe

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// nodesPerPage is smaller than other pages: a Node lists up to 50 images.
const nodesPerPage = 250

const (
	labelControlPlane = "node-role.kubernetes.io/control-plane"
	// The label of kubeadm before v1.24, which some clusters keep.
	labelMaster = "node-role.kubernetes.io/master"
)

func (obs *observation) readNodes(ctx context.Context) error {
	err := pages(ctx, list("nodes"), metav1.ListOptions{Limit: nodesPerPage}, obs.client.CoreV1().Nodes().List, func(page *corev1.NodeList) error {
		for i := range page.Items {
			if virtual(&page.Items[i]) {
				obs.snapshot.VirtualNodes = append(obs.snapshot.VirtualNodes, page.Items[i].Name)
				continue
			}
			obs.snapshot.Nodes = append(obs.snapshot.Nodes, Node(&page.Items[i]))
			obs.collectSigns(&page.Items[i])
			obs.noteVersion(kindNode, page.Items[i].Name, page.Items[i].ResourceVersion)
		}
		return nil
	})
	for i := range obs.snapshot.Nodes { // only now, since append may have moved the nodes
		obs.nodes[obs.snapshot.Nodes[i].Name] = &obs.snapshot.Nodes[i]
	}
	return err
}

func virtual(n *corev1.Node) bool {
	info := &n.Status.NodeInfo
	return cluster.IsVirtual(info.KubeletVersion, info.ContainerRuntimeVersion, info.KernelVersion)
}

// Node keeps what decisions need, without annotations, images and volumes.
func Node(n *corev1.Node) cluster.Node {
	info := n.Status.NodeInfo
	_, controlPlane := n.Labels[labelControlPlane]
	_, master := n.Labels[labelMaster]
	out := cluster.Node{
		Name: n.Name, UID: string(n.UID), ControlPlane: controlPlane || master,
		Zone:   cmp.Or(n.Labels[corev1.LabelTopologyZone], n.Labels[corev1.LabelFailureDomainBetaZone]),
		Labels: n.Labels, CreatedAt: n.CreationTimestamp.UTC(),
		Kubelet: info.KubeletVersion, Runtime: info.ContainerRuntimeVersion, OS: info.OperatingSystem, OSImage: info.OSImage,
		Arch: info.Architecture, Kernel: info.KernelVersion,
		Unschedulable: n.Spec.Unschedulable, CordonedBy: n.Annotations[refitv1alpha1.AnnotationCordonedBy],
		ProtectedBy: n.Annotations[refitv1alpha1.AnnotationProtectedBy],
		Allocatable: resourcesOf(n.Status.Allocatable),
	}
	for _, t := range n.Spec.Taints {
		out.Taints = append(out.Taints, cluster.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
	}
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			out.Addresses = append(out.Addresses, a.Address)
		}
	}
	for _, c := range n.Status.Conditions {
		switch {
		case c.Type == corev1.NodeReady:
			// A node whose status is Unknown is not ready.
			out.Ready, out.ReadySince = answer(c.Status == corev1.ConditionTrue), c.LastTransitionTime.UTC()
		case c.Status == corev1.ConditionTrue && isPressure(c.Type):
			out.Pressure = append(out.Pressure, string(c.Type))
		}
	}
	return out
}

func isPressure(kind corev1.NodeConditionType) bool {
	switch kind {
	case corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeNetworkUnavailable:
		return true
	default: // conditions of other controllers, such as node-problem-detector
		return false
	}
}

func resourcesOf(list corev1.ResourceList) cluster.Resources {
	return cluster.Resources{MilliCPU: list.Cpu().MilliValue(), Memory: list.Memory().Value(), Pods: list.Pods().Value()}
}

func answer(yes bool) cluster.Answer {
	if yes {
		return cluster.Yes
	}
	return cluster.No
}
