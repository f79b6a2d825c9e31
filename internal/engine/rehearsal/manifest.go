package rehearsal

import (
	"errors"
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// ParseManifest returns what a rehearsal takes from a rendered static pod manifest.
func ParseManifest(text []byte) (rehearsal.Manifest, error) {
	var pod corev1.Pod
	if err := yaml.Unmarshal(text, &pod); err != nil {
		return rehearsal.Manifest{}, fmt.Errorf("cannot parse the static pod manifest: %w", err)
	}
	if pod.Kind != "Pod" || len(pod.Spec.Containers) == 0 {
		return rehearsal.Manifest{}, errors.New("cannot parse the static pod manifest: not a pod with a container")
	}
	container := pod.Spec.Containers[0]
	for _, c := range pod.Spec.Containers {
		if c.Name == pod.Labels["component"] {
			container = c
		}
	}
	m := rehearsal.Manifest{Image: container.Image, Env: map[string]string{}}
	m.Command = append(append(m.Command, container.Command...), container.Args...)
	for _, env := range container.Env {
		m.Env[env.Name] = env.Value
	}
	m.Mounts = mounts(pod.Spec.Volumes, container.VolumeMounts)
	return m, nil
}

func mounts(volumes []corev1.Volume, within []corev1.VolumeMount) []rehearsal.Mount {
	sources := map[string]*corev1.HostPathVolumeSource{}
	for _, volume := range volumes {
		sources[volume.Name] = volume.HostPath
	}
	var list []rehearsal.Mount
	for _, mount := range within {
		m := rehearsal.Mount{Path: path.Clean(mount.MountPath)}
		if source := sources[mount.Name]; source != nil {
			m.HostPath = path.Join(source.Path, mount.SubPath)
			if source.Type != nil && mount.SubPath == "" {
				m.Type = string(*source.Type)
			}
		}
		list = append(list, m)
	}
	return list
}
