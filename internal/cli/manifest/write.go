package manifest

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// manifest is a ClusterUpgrade without its status and the fields that the API server sets.
type manifest struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metadata                         `json:"metadata"`
	Spec            refitv1alpha1.ClusterUpgradeSpec `json:"spec"`
}

type metadata struct {
	Name string `json:"name"`
}

// Write encodes a ClusterUpgrade as YAML for `kubectl apply`. One without a name gets the default.
func Write(upgrade *refitv1alpha1.ClusterUpgrade) ([]byte, error) {
	out, err := yaml.Marshal(manifest{
		TypeMeta: metav1.TypeMeta{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: kind},
		Metadata: metadata{Name: cmp.Or(upgrade.Name, request.DefaultName(upgrade.Spec.Target))},
		Spec:     upgrade.Spec,
	})
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	return out, nil
}
