package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Pool is a policy for a group of workers.
//
// +kubebuilder:validation:XValidation:rule="(self.name == 'default') != (has(self.nodeSelector) && self.nodeSelector.size() > 0)",message="the pool default cannot have a nodeSelector; every other pool needs one"
type Pool struct {
	// name is the pool's name. The pool default contains all workers that no other pool selects.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// nodeSelector is the labels that a worker needs to belong to this pool. The pool default has
	// none.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.size() <= 317)",message="a label's key may have at most 317 characters"
	// +mapType=atomic
	NodeSelector Labels `json:"nodeSelector,omitempty"`

	// maxUnavailable is the number or percentage of nodes of this pool that may be unavailable at
	// the same time, for any reason. A percentage is rounded down, but to at least 1. At most 256
	// nodes of the cluster are upgraded at the same time.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 10000 : self.matches('^([1-9][0-9]?|100)%$')",message="must be a number from 1 to 10000, or a percentage from 1% to 100%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// canary upgrades some nodes first and observes them before the others follow.
	// +optional
	Canary *Canary `json:"canary,omitempty"`

	// drain configures how the nodes of this pool are drained.
	// +optional
	// +kubebuilder:default={}
	Drain Drain `json:"drain,omitzero"`
}

// Canary upgrades some nodes of a pool first.
type Canary struct {
	// nodes is the number of canary nodes.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Nodes int32 `json:"nodes,omitempty"`
	// soak is how long they must be healthy at the new version before the others follow.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s') && duration(self) <= duration('168h')",message="must be longer than 0s and at most 168h"
	Soak metav1.Duration `json:"soak,omitzero"`
}

// Drain configures how a node is drained. Evictions respect PodDisruptionBudgets.
type Drain struct {
	// when defines which upgrades drain a node: MinorReleases (a patch release restarts the kubelet
	// while pods keep running) or AllReleases.
	// +optional
	// +kubebuilder:default=MinorReleases
	When DrainWhen `json:"when,omitempty"`

	// timeout is how long a drain may take before onBlocked applies.
	// +optional
	// +kubebuilder:default="15m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s') && duration(self) <= duration('168h')",message="must be longer than 0s and at most 168h"
	Timeout metav1.Duration `json:"timeout,omitzero"`

	// onBlocked is what Refit does if a node cannot be drained within the timeout.
	// Wait: keep waiting and report the upgrade as stalled.
	// Skip: uncordon the node and skip it.
	// Fail: uncordon the node and stop the upgrade.
	// Delete: delete the remaining pods in violation of their PodDisruptionBudgets.
	// +optional
	// +kubebuilder:default=Wait
	OnBlocked OnBlocked `json:"onBlocked,omitempty"`
}

// DrainWhen defines which upgrades drain a node.
// +kubebuilder:validation:Enum=MinorReleases;AllReleases
type DrainWhen string

// When a node is drained.
const (
	DrainMinorReleases DrainWhen = "MinorReleases"
	DrainAllReleases   DrainWhen = "AllReleases"
)

// OnBlocked is what Refit does if a node cannot be drained.
// +kubebuilder:validation:Enum=Wait;Skip;Fail;Delete
type OnBlocked string

// The policies for a node that cannot be drained.
const (
	OnBlockedWait   OnBlocked = "Wait"
	OnBlockedSkip   OnBlocked = "Skip"
	OnBlockedFail   OnBlocked = "Fail"
	OnBlockedDelete OnBlocked = "Delete"
)
