package manifest

import (
	"fmt"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// Write encodes a ClusterUpgrade as YAML for `kubectl apply`. One without a name gets the default.
func Write(upgrade *refitv1alpha1.ClusterUpgrade) ([]byte, error) {
	out, err := yaml.Marshal(request.NewManifest(upgrade))
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	return out, nil
}
