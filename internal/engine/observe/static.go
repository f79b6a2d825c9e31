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

	// annotationAdvertised is where kubeadm writes down the address and port of an API server.
	annotationAdvertised = "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint"
)

// controlPlaneComponents are the static pods that make a control plane, as kubeadm labels them.
var controlPlaneComponents = []string{apiServerComponent, "kube-controller-manager", "kube-scheduler", etcdComponent}

// serverPod is the pod of an API server, as far as one needs it to reach that server.
type serverPod struct {
	name       string
	advertised string // host:port, empty if kubeadm did not write it down
}

// noteSystemPod notes what a pod of the cluster itself tells about its node.
func (g *gathering) noteSystemPod(n *cluster.Node, p *corev1.Pod) {
	if p.Namespace != kubeSystem || len(p.Spec.Containers) == 0 {
		return
	}
	if p.Labels["k8s-app"] == "kube-proxy" {
		n.KubeProxy = versionOf(p.Spec.Containers[0].Image)
		return
	}
	component := p.Labels["component"]
	// A kubelet may make mirror pods of any name for its own node. What workers claim to run there is no control plane: nobody may be led
	// to it with credentials.
	if !isMirror(p) || !n.ControlPlane || !slices.Contains(controlPlaneComponents, component) {
		return
	}
	if n.Static == nil {
		n.Static = map[string]cluster.StaticPod{}
	}
	n.Static[component] = staticOf(component, p)
	if component == apiServerComponent {
		g.servers[n.Name] = serverPod{name: p.Name, advertised: p.Annotations[annotationAdvertised]}
	}
}

func staticOf(component string, p *corev1.Pod) cluster.StaticPod {
	c := &p.Spec.Containers[0]
	for i := range p.Spec.Containers { // somebody may have put another one beside it
		if p.Spec.Containers[i].Name == component {
			c = &p.Spec.Containers[i]
		}
	}
	version := versionOf(c.Image)
	if component == etcdComponent {
		version, _, _ = strings.Cut(version, "-") // 3.6.6-0: the image's own revision is no part of the version
	}
	return cluster.StaticPod{Image: c.Image, Version: version, Ready: isReady(p), Flags: flagsOf(slices.Concat(c.Command, c.Args))}
}

// versionOf is the tag of an image; empty if it is named by its digest only.
func versionOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	place := strings.LastIndex(image, ":")
	if place < 0 || strings.Contains(image[place:], "/") { // the colon of a registry's port
		return ""
	}
	return image[place+1:]
}
