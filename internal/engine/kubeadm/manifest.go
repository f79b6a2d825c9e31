package kubeadm

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const endpointAnnotation = "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint"

// Manifest is a parsed static pod manifest.
type Manifest struct {
	Component   string
	Image       string
	Command     []string            // with the arguments
	Flags       map[string][]string // by name without dashes; a flag may occur several times
	Env         map[string]string   // the source, if the value is from a reference
	Mounts      []Mount
	Resources   corev1.ResourceRequirements
	Annotations map[string]string
	Pod         *corev1.Pod
	Container   corev1.Container // of the component
}

// Mount is a path of the host in the container.
type Mount struct {
	HostPath string
	Path     string
	ReadOnly bool
}

// Parse parses a static pod manifest.
func Parse(data []byte) (Manifest, error) {
	var pod corev1.Pod
	if err := yaml.Unmarshal(data, &pod); err != nil {
		return Manifest{}, fmt.Errorf("cannot parse the static pod manifest: %w", err)
	}
	if pod.Kind != "Pod" || len(pod.Spec.Containers) == 0 {
		return Manifest{}, errors.New("cannot parse the static pod manifest: not a pod with a container")
	}
	return OfPod(&pod), nil
}

// OfPod returns the manifest of a static pod, which has at least one container. A mirror pod has
// the flags and mounts of its manifest.
func OfPod(pod *corev1.Pod) Manifest {
	m := Manifest{Component: pod.Labels["component"], Annotations: pod.Annotations, Env: map[string]string{}, Pod: pod}
	container := pod.Spec.Containers[0]
	for _, c := range pod.Spec.Containers {
		if c.Name == m.Component {
			container = c
		}
	}
	if m.Component == "" {
		m.Component = container.Name
	}
	m.Container, m.Image, m.Resources = container, container.Image, container.Resources
	m.Command = append(append(m.Command, container.Command...), container.Args...)
	m.Flags = flags(m.Command)
	for _, env := range container.Env {
		m.Env[env.Name] = env.Value
		if env.ValueFrom != nil {
			m.Env[env.Name] = env.ValueFrom.String()
		}
	}
	m.Mounts = mounts(pod.Spec.Volumes, container.VolumeMounts)
	return m
}

// flags returns the flags of a command. The value of a flag may be the next word; a flag without a
// value is a switch.
func flags(command []string) map[string][]string {
	found := map[string][]string{}
	for i, word := range command {
		if i == 0 || !strings.HasPrefix(word, "-") {
			continue
		}
		name, value, has := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if !has {
			value = "true"
			if i+1 < len(command) && !strings.HasPrefix(command[i+1], "-") {
				value = command[i+1]
			}
		}
		found[name] = append(found[name], value)
	}
	return found
}

func mounts(volumes []corev1.Volume, within []corev1.VolumeMount) []Mount {
	paths := map[string]string{}
	for _, volume := range volumes {
		paths[volume.Name] = volume.Name
		if volume.HostPath != nil {
			paths[volume.Name] = volume.HostPath.Path
		}
	}
	var found []Mount
	for _, mount := range within {
		found = append(found, Mount{HostPath: paths[mount.Name], Path: mount.MountPath, ReadOnly: mount.ReadOnly})
	}
	return found
}

// Version returns the version in the tag of the image: v1.36.3, or 3.6.8 of etcd:3.6.8-0. It is
// empty if there is no tag.
func (m Manifest) Version() string {
	_, tag := splitImage(m.Image)
	if m.Component == Etcd {
		tag, _, _ = strings.Cut(tag, "-")
	}
	return tag
}

// splitImage returns the name and the tag of an image, without a digest.
func splitImage(image string) (name, tag string) {
	image, _, _ = strings.Cut(image, "@")
	if at := strings.LastIndex(image, ":"); at > strings.LastIndex(image, "/") {
		return image[:at], image[at+1:]
	}
	return image, ""
}

// LocalEndpoint returns the address and port in the annotation of an API server's manifest.
func LocalEndpoint(manifest []byte) (address string, port int, err error) {
	m, err := Parse(manifest)
	if err != nil {
		return "", 0, err
	}
	address, text, err := net.SplitHostPort(m.Annotations[endpointAnnotation])
	if err != nil {
		return "", 0, fmt.Errorf("cannot parse annotation %s of the API server's manifest: %w", endpointAnnotation, err)
	}
	if port, err = strconv.Atoi(text); err != nil {
		return "", 0, fmt.Errorf("cannot parse annotation %s of the API server's manifest: %w", endpointAnnotation, err)
	}
	return address, port, nil
}
