package kubeadm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// SetFlags sets flags of the component in a static pod manifest, and keeps all others.
func SetFlags(manifest []byte, flags map[string]string) ([]byte, error) {
	m, err := Parse(manifest)
	if err != nil {
		return nil, err
	}
	for i := range m.Pod.Spec.Containers {
		if c := &m.Pod.Spec.Containers[i]; c.Name == m.Container.Name {
			setFlags(c, flags)
		}
	}
	text, err := yaml.Marshal(m.Pod)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the static pod manifest: %w", err)
	}
	return text, nil
}

// setFlags replaces flags as kubeadm writes them, in one word, and adds those that are missing.
func setFlags(c *corev1.Container, flags map[string]string) {
	left := maps.Clone(flags)
	for _, words := range [][]string{c.Command, c.Args} {
		for i, word := range words {
			name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
			if value, ok := flags[name]; ok && strings.HasPrefix(word, "-") {
				words[i] = "--" + name + "=" + value
				delete(left, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		c.Command = append(c.Command, "--"+name+"="+left[name])
	}
}
