package kubeadm

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Join makes of what was rendered what kubeadm's upgrade would leave on disk: a manifest that says the same as the one on disk stays as it is, byte
// for byte, and so does etcd's where the rendered one would lower it. kubeadm refuses to go on where a manifest is not on disk.
func Join(onDisk, rendered map[string][]byte) (Rendered, error) {
	joined := Rendered{}
	for component, text := range rendered {
		old, there := onDisk[component]
		if !there {
			return nil, node.ManualIntervention("ManifestMissing", nil,
				"put the manifest back, or let kubeadm write it: kubeadm init phase control-plane --help"+thenRetry,
				"%s has no static pod manifest on this host", component)
		}
		before, err := Parse(old)
		if err != nil {
			return nil, node.ManualIntervention("ManifestBroken", err, "mend the manifest"+thenRetry, "the manifest of %s on disk cannot be read", component)
		}
		after, err := Parse(text)
		if err != nil {
			return nil, err
		}
		joined[component] = text
		if equality.Semantic.DeepEqual(before.Pod, after.Pod) || component == Etcd && lowers(before, after) {
			joined[component] = old
		}
	}
	return joined, nil
}

// lowers says that a version is older than what is there. Versions that cannot be compared are not taken for lower: kubeadm refuses them itself.
func lowers(before, after Manifest) bool {
	from, err := version.ParseGeneric(before.Version())
	if err != nil {
		return false
	}
	to, err := version.ParseGeneric(after.Version())
	return err == nil && to.LessThan(from)
}
