package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterRelease is a target that a cluster can be upgraded to: versions, and every file and image
// by its digest, signed by its publisher. The spec is immutable.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=crel,categories=refit
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="a name may have at most 63 characters"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Kubernetes",type=string,JSONPath=`.spec.kubernetes`
// +kubebuilder:printcolumn:name="Verified",type=integer,JSONPath=`.status.verifiedHosts`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Error",type=string,JSONPath=`.status.lastError.message`,priority=1
type ClusterRelease struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the signed content. It is immutable.
	// +required
	Spec ClusterReleaseSpec `json:"spec"`
	// status is what hosts make of it. The controller writes it.
	// +optional
	Status ClusterReleaseStatus `json:"status,omitzero"`
}

// ClusterReleaseList is a list of ClusterReleases.
//
// +kubebuilder:object:root=true
type ClusterReleaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterRelease `json:"items"`
}

// ClusterReleaseSpec is the signed content of a ClusterRelease.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a ClusterRelease is immutable: create another one"
type ClusterReleaseSpec struct {
	// kubernetes is the Kubernetes version in the payload, repeated for columns. A ClusterRelease
	// whose payload has another version is not used.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// envelope is the signed DSSE envelope, byte for byte as it was signed. Agents read only this.
	// Its type has the version of the payload: 1, or 2 if binaries are in archives. Agents refuse
	// newer versions than the payloadVersion in their NodeReport.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=262144
	Envelope []byte `json:"envelope,omitempty"`
	// components is the signed DSSE envelope of the components, byte for byte as it was signed. It
	// names the digest of the payload in envelope. Only refit-components reads it.
	// +optional
	// +kubebuilder:validation:MaxLength=262144
	Components []byte `json:"components,omitempty"`
}

// ClusterReleaseStatus is what hosts make of a ClusterRelease.
type ClusterReleaseStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// verifiedHosts is the number of hosts that have verified the signature and accepted an order
	// to install the release.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	VerifiedHosts int32 `json:"verifiedHosts,omitempty"`
	// rejectedHosts is the number of hosts that reject the release.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	RejectedHosts int32 `json:"rejectedHosts,omitempty"`
	// lastError is the most recent rejection.
	// +optional
	// +structType=atomic
	LastError *ClusterReleaseError `json:"lastError,omitempty"`
	// conditions: Ready is True when hosts have verified the release and none rejects it, Unknown
	// until a host has read it. Stalled is True while a host rejects it.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.type.size() <= 32 && c.reason.size() <= 64 && c.message.size() <= 256 && c.lastTransitionTime > timestamp('2000-01-01T00:00:00Z'))",message="a condition's type may have at most 32 characters, its reason 64 and its message 256, and its time must be set"
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ClusterReleaseError is why a host rejects a ClusterRelease.
type ClusterReleaseError struct {
	// node is the node of the host.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`
	// message is the cause.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// time is when the host rejected it.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	Time metav1.Time `json:"time,omitzero"`
}
