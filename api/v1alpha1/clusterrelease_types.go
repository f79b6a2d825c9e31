package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterRelease is what to move to: versions, and every file and image by its digest, signed by its owner. It cannot be changed.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=crel,categories=refit
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="a name may have at most 63 characters"
// +kubebuilder:printcolumn:name="Kubernetes",type=string,JSONPath=`.spec.kubernetes`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ClusterRelease struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the ClusterRelease. It cannot be changed.
	// +required
	Spec ClusterReleaseSpec `json:"spec"`
}

// ClusterReleaseList is a list of ClusterReleases.
//
// +kubebuilder:object:root=true
type ClusterReleaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterRelease `json:"items"`
}

// ClusterReleaseSpec is a ClusterRelease.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a ClusterRelease cannot be changed: make another one"
type ClusterReleaseSpec struct {
	// Kubernetes is the version that the payload brings, repeated for people and columns. A ClusterRelease whose payload says something else is not used.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// Envelope is the signed DSSE envelope, byte for byte as it was signed. Agents read only this.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=262144
	Envelope []byte `json:"envelope,omitempty"`
}
