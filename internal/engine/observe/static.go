package observe

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const (
	apiServerComponent = "kube-apiserver"
	etcdComponent      = "etcd"

	// annotationAdvertised is the annotation of kubeadm with the address and port of an API server.
	annotationAdvertised = "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint"
)

// controlPlaneComponents are the labels of the static pods of a control plane.
var controlPlaneComponents = []string{apiServerComponent, "kube-controller-manager", "kube-scheduler", etcdComponent}

// serverPod has the facts that are needed to reach the API server of a pod.
type serverPod struct {
	name       string
	advertised string // host:port, empty without the annotation
}

// noteSystemPod records facts about a node from its system pods.
func (obs *observation) noteSystemPod(n *cluster.Node, p *corev1.Pod) {
	if p.Namespace != kubeSystem || len(p.Spec.Containers) == 0 {
		return
	}
	if p.Labels["k8s-app"] == "kube-proxy" {
		n.KubeProxy = versionOf(p.Spec.Containers[0].Image)
		return
	}
	component := p.Labels["component"]
	// A kubelet may create mirror pods of any name on its own node. Those of workers are not part
	// of the control plane: credentials must not be sent to them.
	if !isMirror(p) || !n.ControlPlane || !slices.Contains(controlPlaneComponents, component) {
		return
	}
	if n.Static == nil {
		n.Static = map[string]cluster.StaticPod{}
	}
	n.Static[component] = staticOf(component, p)
	if component == apiServerComponent {
		obs.servers[n.Name] = serverPod{name: p.Name, advertised: p.Annotations[annotationAdvertised]}
	}
}

func staticOf(component string, p *corev1.Pod) cluster.StaticPod {
	c := &p.Spec.Containers[0]
	for i := range p.Spec.Containers { // the pod may have other containers
		if p.Spec.Containers[i].Name == component {
			c = &p.Spec.Containers[i]
		}
	}
	version := versionOf(c.Image)
	if component == etcdComponent {
		// 3.6.6-0: the revision of the image is not part of the version.
		version, _, _ = strings.Cut(version, "-")
	}
	return cluster.StaticPod{Image: c.Image, Version: version, Ready: isReady(p), Flags: flagsOf(slices.Concat(c.Command, c.Args))}
}

// versionOf returns the tag of an image, empty if it has only a digest.
func versionOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	place := strings.LastIndex(image, ":")
	if place < 0 || strings.Contains(image[place:], "/") { // the colon is that of a port
		return ""
	}
	return image[place+1:]
}
