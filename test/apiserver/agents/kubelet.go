package agents

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	kubeSystem   = metav1.NamespaceSystem
	registry     = "registry.k8s.io/"
	etcdVersion  = "3.6.8"
	agentVersion = "v0.1.0"

	// annotationAdvertised is the annotation in which kubeadm records the address of an API server.
	annotationAdvertised = "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint"
)

// sync writes what a kubelet reports: its own version, and those of the static pods. While the API
// is unreachable the host continues without it.
func (h *host) sync() {
	h.kubelet.put(h.agents, func(ctx context.Context) error {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: h.name}}
		body := fmt.Appendf(nil, `{"status":{"nodeInfo":{"kubeletVersion":%q}}}`, h.version(node.StepKubelet))
		err := h.agents.client.Status().Patch(ctx, n, client.RawPatch(types.StrategicMergePatchType, body))
		if !h.controlPlane || client.IgnoreNotFound(err) != nil {
			return client.IgnoreNotFound(err)
		}
		for component, image := range h.images() {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: kubeSystem, Name: component + "-" + h.name}}
			body := fmt.Appendf(nil, `{"spec":{"containers":[{"name":%q,"image":%q}]}}`, component, image)
			err := h.agents.client.Patch(ctx, pod, client.RawPatch(types.StrategicMergePatchType, body))
			if client.IgnoreNotFound(err) != nil {
				return err
			}
		}
		return nil
	})
}

// images returns the images of the host's static pods.
func (h *host) images() map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return map[string]string{
		"etcd":                    registry + "etcd:" + h.versions[node.StepEtcd] + "-0",
		"kube-apiserver":          registry + "kube-apiserver:" + h.versions[node.StepAPIServer],
		"kube-controller-manager": registry + "kube-controller-manager:" + h.versions[node.StepControllers],
		"kube-scheduler":          registry + "kube-scheduler:" + h.versions[node.StepControllers],
	}
}

// mirror creates the mirror pods of a control plane host's static pods.
func (h *host) mirror(ctx context.Context) {
	for component, image := range h.images() {
		h.agents.write(ctx, func(ctx context.Context) error {
			err := h.agents.client.Create(ctx, h.staticPod(component, image))
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		})
	}
}

func (h *host) staticPod(component, image string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: kubeSystem, Name: component + "-" + h.name, Labels: map[string]string{"component": component, "tier": "control-plane"},
			Annotations: map[string]string{corev1.MirrorPodAnnotationKey: "hash", annotationAdvertised: h.server.address},
		},
		Spec: corev1.PodSpec{
			NodeName: h.name, HostNetwork: true, Containers: []corev1.Container{{Name: component, Image: image, Command: []string{component}}},
		},
	}
}
