// Package v1alpha1 defines the Refit API: ClusterUpgrade, NodeUpgrade, NodeReport and
// ClusterRelease.
//
// The doc comments become the descriptions in the CRDs and in docs/reference/api.md.
//
// +kubebuilder:object:generate=true
// +groupName=refit.dev
package v1alpha1
