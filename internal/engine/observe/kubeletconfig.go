package observe

import (
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// parseKubeletConfiguration keeps the names of all fields that are set, but only the values that
// are used.
func parseKubeletConfiguration(text string) (*cluster.KubeletConfig, error) {
	var known struct {
		FeatureGates map[string]bool `json:"featureGates"`
		FailCgroupV1 *bool           `json:"failCgroupV1"`
	}
	var document map[string]any
	if err := yaml.Unmarshal([]byte(text), &known); err != nil {
		return nil, fmt.Errorf("cannot parse the configuration of the kubelet: %w", err)
	}
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, fmt.Errorf("cannot parse the configuration of the kubelet: %w", err)
	}
	delete(document, "apiVersion")
	delete(document, "kind")
	return &cluster.KubeletConfig{Fields: fieldsOf(document), FeatureGates: known.FeatureGates, FailCgroupV1: known.FailCgroupV1}, nil
}

// fieldsOf returns the paths of the values in a document, sorted, each once:
// "authentication.webhook.enabled", "clusterDNS[]", "registerWithTaints[].key".
func fieldsOf(document map[string]any) []string {
	var paths []string
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, below := range value {
				if path != "" {
					name = path + "." + name
				}
				walk(name, below)
			}
			if len(value) > 0 {
				return
			}
		case []any:
			for _, element := range value {
				walk(path+"[]", element)
			}
			if len(value) > 0 {
				return
			}
		}
		if path != "" {
			paths = append(paths, path)
		}
	}
	walk("", document)
	slices.Sort(paths)
	return slices.Compact(paths)
}
