package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Pool is a policy for some of the workers.
//
// +kubebuilder:validation:XValidation:rule="(self.name == 'default') != (has(self.nodeSelector) && self.nodeSelector.size() > 0)",message="the pool default takes what is left and has no nodeSelector; every other pool needs one"
type Pool struct {
	// Name is the pool's name. The pool named default holds every worker that no other pool matches.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// NodeSelector is the labels that a worker needs to belong to this pool. The pool default has none.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.size() <= 317)",message="a label's key may have at most 317 characters"
	// +mapType=atomic
	NodeSelector Labels `json:"nodeSelector,omitempty"`

	// MaxUnavailable is how many nodes of this pool may be unavailable at any moment, for whatever reason: a number, or a percentage of the pool,
	// rounded down but at least 1. In the whole cluster, at most 256 nodes are at work at once.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 10000 : self.matches('^([1-9][0-9]?|100)%$')",message="must be a number from 1 to 10000, or a percentage from 1% to 100%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// Canary sends some nodes ahead and watches them before the others follow. Without it there is no canary.
	// +optional
	Canary *Canary `json:"canary,omitempty"`

	// Drain is how the nodes of this pool are emptied.
	// +optional
	// +kubebuilder:default={}
	Drain Drain `json:"drain,omitzero"`
}

// Canary sends some nodes of a pool ahead.
type Canary struct {
	// Nodes is how many nodes go ahead.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Nodes int32 `json:"nodes,omitempty"`
	// Soak is how long they must be healthy at the new version before the others follow.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s') && duration(self) <= duration('168h')",message="must be longer than nothing and at most 168h"
	Soak metav1.Duration `json:"soak,omitzero"`
}

// Drain is how a node is emptied. Budgets are always respected while draining.
type Drain struct {
	// When says which releases are worth a drain: MinorReleases (a patch release restarts the kubelet and leaves pods running) or AllReleases.
	// +optional
	// +kubebuilder:default=MinorReleases
	When DrainWhen `json:"when,omitempty"`

	// Timeout is when onBlocked takes effect.
	// +optional
	// +kubebuilder:default="15m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s') && duration(self) <= duration('168h')",message="must be longer than nothing and at most 168h"
	Timeout metav1.Duration `json:"timeout,omitzero"`

	// OnBlocked is what to do with a node that cannot be emptied within the timeout.
	// Wait: go on waiting; the operation says that it is stalled, and by what.
	// Skip: uncordon the node, leave it for later and say so.
	// Fail: uncordon the node and stop the operation.
	// Delete: delete the pods that are left, against their budgets.
	// +optional
	// +kubebuilder:default=Wait
	OnBlocked OnBlocked `json:"onBlocked,omitempty"`
}

// DrainWhen says which releases are worth a drain.
// +kubebuilder:validation:Enum=MinorReleases;AllReleases
type DrainWhen string

// When a node is drained.
const (
	DrainMinorReleases DrainWhen = "MinorReleases"
	DrainAllReleases   DrainWhen = "AllReleases"
)

// OnBlocked is what to do with a node that cannot be emptied.
// +kubebuilder:validation:Enum=Wait;Skip;Fail;Delete
type OnBlocked string

// What to do with a node that cannot be emptied.
const (
	OnBlockedWait   OnBlocked = "Wait"
	OnBlockedSkip   OnBlocked = "Skip"
	OnBlockedFail   OnBlocked = "Fail"
	OnBlockedDelete OnBlocked = "Delete"
)
