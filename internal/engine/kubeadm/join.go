package kubeadm

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Join returns the manifests as an upgrade by kubeadm would leave them on disk. A manifest that is
// equivalent to the one on disk stays unchanged, byte for byte, and so does that of etcd if the
// rendered one would downgrade it. Like kubeadm, it fails if a manifest is missing on disk.
func Join(onDisk, rendered map[string][]byte) (Rendered, error) {
	joined := Rendered{}
	for component, text := range rendered {
		old, exists := onDisk[component]
		if !exists {
			return nil, node.ManualIntervention("ManifestMissing", nil,
				"Restore the manifest, or let kubeadm write it: `kubeadm init phase control-plane --help`"+thenRetry,
				"%s has no static pod manifest on this host", component)
		}
		before, err := Parse(old)
		if err != nil {
			return nil, node.ManualIntervention("ManifestBroken", err, "Fix the manifest"+thenRetry, "cannot parse the manifest of %s on disk", component)
		}
		after, err := Parse(text)
		if err != nil {
			return nil, err
		}
		joined[component] = text
		if equality.Semantic.DeepEqual(before.Pod, after.Pod) || component == Etcd && downgrades(before, after) {
			joined[component] = old
		}
	}
	return joined, nil
}

// downgrades reports whether a manifest has a lower version than the one before. It returns false
// for versions that cannot be compared: kubeadm refuses them.
func downgrades(before, after Manifest) bool {
	from, err := version.ParseGeneric(before.Version())
	if err != nil {
		return false
	}
	to, err := version.ParseGeneric(after.Version())
	return err == nil && to.LessThan(from)
}
