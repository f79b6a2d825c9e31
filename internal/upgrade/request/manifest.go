package request

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Manifest is a ClusterUpgrade for `kubectl apply`: without its status and the fields that the API
// server sets.
type Manifest struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        ManifestMetadata                 `json:"metadata"`
	Spec            refitv1alpha1.ClusterUpgradeSpec `json:"spec"`
}

// ManifestMetadata is the metadata of a Manifest.
type ManifestMetadata struct {
	Name string `json:"name"`
}

// NewManifest returns the manifest of a ClusterUpgrade. One without a name gets the default.
func NewManifest(upgrade *refitv1alpha1.ClusterUpgrade) Manifest {
	return Manifest{
		TypeMeta: metav1.TypeMeta{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "ClusterUpgrade"},
		Metadata: ManifestMetadata{Name: cmp.Or(upgrade.Name, DefaultName(upgrade.Spec.Target))},
		Spec:     upgrade.Spec,
	}
}
