// Package v1alpha1 holds Refit's objects: what a person asks for (ClusterUpgrade), one piece of work on one node
// (NodeUpgrade), what a host is (NodeReport) and what to move to (Release).
//
// The doc comments here are the reference that users read: they become the CRDs' descriptions and docs/reference/api.md.
//
// +kubebuilder:object:generate=true
// +groupName=refit.dev
package v1alpha1
