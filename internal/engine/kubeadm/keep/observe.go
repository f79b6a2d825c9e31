package keep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/drift"
)

const (
	controlPlaneLabel = "node-role.kubernetes.io/control-plane"
	configMap         = "kubeadm-config"
	configKey         = "ClusterConfiguration"
)

// Cluster is a cluster whose settings are kept.
type Cluster struct {
	Client client.Client
	// Now is the time of the API server: the clock of this machine may be wrong, and a request in
	// the future would make reports look fresh for as long.
	Now func() time.Time
	// ReportTimeout is how long agents may take to report, all of them together.
	ReportTimeout time.Duration
	// Waiting is called before each wait for reports.
	Waiting func(nodes []string, atMost time.Duration)
}

// Observation is what is known before a change.
type Observation struct {
	Input drift.Input

	config *corev1.ConfigMap
}

// Observe reads a node and what its settings are compared with.
func (c *Cluster) Observe(ctx context.Context, node string) (*Observation, error) {
	nodes, err := c.controlPlane(ctx, node)
	if err != nil {
		return nil, err
	}
	reports := c.Reports(ctx, node)
	if err := reports.Missing[node]; err != nil {
		return nil, err
	}
	o := &Observation{Input: drift.Input{Node: node, Lost: reports.Lost[node]}}
	if len(o.Input.Lost) == 0 {
		return o, nil
	}
	if o.Input.Pods, err = c.pods(ctx, nodes, o.Input.Lost); err != nil {
		return nil, err
	}
	o.config = &corev1.ConfigMap{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: configMap}, o.config); err != nil {
		return nil, fmt.Errorf("cannot get the ConfigMap %s: %w", configMap, err)
	}
	o.Input.Config, err = readConfig(o.config.Data[configKey])
	return o, err
}

// controlPlane returns the names of all control plane nodes, of which the given node must be one.
func (c *Cluster) controlPlane(ctx context.Context, node string) ([]string, error) {
	var list corev1.NodeList
	if err := c.Client.List(ctx, &list, client.HasLabels{controlPlaneLabel}); err != nil {
		return nil, fmt.Errorf("cannot list the control plane nodes: %w", err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	if !slices.Contains(names, node) {
		return nil, fmt.Errorf("%s is not a control plane node: only these have static pods of kubeadm", node)
	}
	return names, nil
}

// pods reads the static pods that have the settings on every control plane node.
func (c *Cluster) pods(ctx context.Context, nodes []string, lost []drift.Setting) (drift.Pods, error) {
	found := drift.Pods{}
	for _, node := range nodes {
		found[node] = map[string]drift.Pod{}
		for _, s := range lost {
			if _, read := found[node][s.Component]; read {
				continue
			}
			pod, err := c.pod(ctx, s.Component, node)
			if err != nil {
				return nil, fmt.Errorf("cannot read the static pod of %s on %s: %w", s.Component, node, err)
			}
			found[node][s.Component] = pod
		}
	}
	return found, nil
}

// pod reads a mirror pod, in which the kubelet publishes a static pod.
func (c *Cluster) pod(ctx context.Context, component, node string) (drift.Pod, error) {
	var pod corev1.Pod
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: component + "-" + node}, &pod)
	switch {
	case apierrors.IsNotFound(err):
		return drift.Pod{}, errors.New("it has no mirror pod")
	case err != nil:
		return drift.Pod{}, err
	case pod.Annotations[corev1.MirrorPodAnnotationKey] == "" || pod.Spec.NodeName != node || len(pod.Spec.Containers) == 0:
		return drift.Pod{}, fmt.Errorf("pod %s is not its mirror pod", pod.Name)
	}
	return podOf(&pod), nil
}

func podOf(pod *corev1.Pod) drift.Pod {
	manifest := kubeadm.OfPod(pod)
	out := drift.Pod{Flags: manifest.Flags}
	volumes := map[string]*corev1.HostPathVolumeSource{}
	for i := range pod.Spec.Volumes {
		volumes[pod.Spec.Volumes[i].Name] = pod.Spec.Volumes[i].HostPath
	}
	for _, m := range manifest.Container.VolumeMounts {
		mount := drift.Mount{Volume: m.Name, Path: m.MountPath, ReadOnly: m.ReadOnly}
		// A part of a volume cannot be expressed as a hostPath of kubeadm.
		if from := volumes[m.Name]; from != nil && m.SubPath == "" && m.SubPathExpr == "" && m.MountPropagation == nil {
			mount.HostPath = from.Path
			if from.Type != nil {
				mount.PathType = string(*from.Type)
			}
		}
		out.Mounts = append(out.Mounts, mount)
	}
	return out
}
