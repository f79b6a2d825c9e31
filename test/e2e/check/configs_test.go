//go:build e2e

package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// config is one entry of a ConfigMap in kube-system. Several defects may edit it at the same time.
type config struct {
	original string
	edits    []*edit
}

// edit is the change that a defect makes to a text.
type edit struct {
	change func(text string) (string, error)
}

// Configurations written by kubeadm: the ConfigMap and its entry.
var (
	kubeadmConfig = [2]string{"kubeadm-config", "ClusterConfiguration"}
	kubeletConfig = [2]string{"kubelet-config", "kubelet"}
	proxyConfig   = [2]string{"kube-proxy", "config.conf"}
	dnsConfig     = [2]string{"coredns", "Corefile"}
)

// edited returns a fault in one of kubeadm's configurations. Only kubeadm reads them, on its next
// run, except for CoreDNS, which reads its own.
func edited(place [2]string, change func(text string) (string, error)) fault {
	e := &edit{change: change}
	return fault{
		seed: func(ctx context.Context, b *bed) error {
			c, err := b.config(ctx, place)
			if err != nil {
				return err
			}
			c.edits = append(c.edits, e)
			return b.render(ctx, place, c)
		},
		restore: func(ctx context.Context, b *bed) error {
			c, err := b.config(ctx, place)
			if err != nil {
				return err
			}
			c.edits = slices.DeleteFunc(c.edits, func(other *edit) bool { return other == e })
			return b.render(ctx, place, c)
		},
	}
}

// config returns an entry, with its text before the first edit.
func (b *bed) config(ctx context.Context, place [2]string) (*config, error) {
	if c := b.configs[place[0]]; c != nil {
		return c, nil
	}
	found, err := b.client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, place[0], metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	c := &config{original: found.Data[place[1]]}
	if c.original == "" {
		return nil, fmt.Errorf("the ConfigMap %s has no entry %s", place[0], place[1])
	}
	b.configs[place[0]] = c
	return c, nil
}

// render writes an entry with all edits applied.
func (b *bed) render(ctx context.Context, place [2]string, c *config) error {
	text := c.original
	var err error
	for _, e := range c.edits {
		if text, err = e.change(text); err != nil {
			return fmt.Errorf("editing %s: %w", place[0], err)
		}
	}
	maps := b.client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
	found, err := maps.Get(ctx, place[0], metav1.GetOptions{})
	if err != nil {
		return err
	}
	found.Data[place[1]] = text
	_, err = maps.Update(ctx, found, metav1.UpdateOptions{})
	return err
}

// fields returns an edit of a YAML text.
func fields(change func(document map[string]any) error) func(string) (string, error) {
	return func(text string) (string, error) {
		var document map[string]any
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			return "", err
		}
		if err := change(document); err != nil {
			return "", err
		}
		out, err := yaml.Marshal(document)
		return string(out), err
	}
}

// set sets a top-level field.
func set(field string, value any) func(string) (string, error) {
	return fields(func(document map[string]any) error {
		document[field] = value
		return nil
	})
}

// gate enables one of the document's own feature gates.
func gate(name string) func(string) (string, error) {
	return fields(func(document map[string]any) error {
		gates, ok := document["featureGates"].(map[string]any)
		if !ok {
			gates = map[string]any{}
			document["featureGates"] = gates
		}
		gates[name] = true
		return nil
	})
}

// argument adds an argument for a control plane component to kubeadm's configuration: repeated
// names all count.
func argument(component, name, value string) func(string) (string, error) {
	return fields(func(document map[string]any) error {
		settings, ok := document[component].(map[string]any)
		if !ok {
			return errors.New("there is no " + component)
		}
		args, _ := settings["extraArgs"].([]any)
		settings["extraArgs"] = append(args, map[string]any{"name": name, "value": value})
		return nil
	})
}
