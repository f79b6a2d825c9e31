package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterUpgrade asks for one upgrade of this cluster, and tells how far it is. It is also the operation's history: it stays after it ended.
//
// One operation acts at a time, the oldest that has not ended; others wait and say so.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cu;cup,categories=refit
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="a name may have at most 63 characters"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.epoch) || (has(self.status) && has(self.status.epoch) && self.status.epoch >= oldSelf.status.epoch)",message="status.epoch cannot be lowered: whoever wrote this is no longer the leader"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in ['Succeeded', 'Aborted']) || (has(self.status) && has(self.status.phase) && self.status.phase == oldSelf.status.phase)",message="this operation has ended and cannot begin again: make another ClusterUpgrade"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="From",type=string,JSONPath=`.status.plan.from`
// +kubebuilder:printcolumn:name="To",type=string,JSONPath=`.spec.target.*`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Done",type=integer,JSONPath=`.status.nodes.done`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.nodes.total`,priority=1
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=`.status.nodes.failed`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`,priority=1
// +kubebuilder:printcolumn:name="Plan",type=string,JSONPath=`.status.plan.hash`,priority=1
type ClusterUpgrade struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what a person wants.
	// +required
	Spec ClusterUpgradeSpec `json:"spec"`
	// Status is how far the operation is.
	// +optional
	Status ClusterUpgradeStatus `json:"status,omitzero"`
}

// ClusterUpgradeList is a list of ClusterUpgrades.
//
// +kubebuilder:object:root=true
type ClusterUpgradeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterUpgrade `json:"items"`
}

// ClusterUpgradeSpec is what a person wants.
//
// +kubebuilder:validation:XValidation:rule="has(self.nodeSelector) && has(oldSelf.nodeSelector) ? self.nodeSelector == oldSelf.nodeSelector : (!has(self.nodeSelector) || self.nodeSelector.size() == 0) && (!has(oldSelf.nodeSelector) || oldSelf.nodeSelector.size() == 0)",message="nodeSelector cannot be changed: make another ClusterUpgrade"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?aborted.orValue(false) || self.?aborted.orValue(false)",message="aborted cannot be taken back: make another ClusterUpgrade"
// +kubebuilder:validation:XValidation:rule="self.?retry.orValue(0) >= oldSelf.?retry.orValue(0)",message="retry cannot be lowered"
type ClusterUpgradeSpec struct {
	// Target is what to move to. It cannot be changed: make another ClusterUpgrade instead.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="target cannot be changed: make another ClusterUpgrade"
	Target Target `json:"target,omitzero"`

	// Scope is which part of the cluster moves. It cannot be changed.
	// +optional
	// +kubebuilder:default=All
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="scope cannot be changed: make another ClusterUpgrade"
	Scope Scope `json:"scope,omitempty"`

	// NodeSelector limits the workers that move to those with all of these labels; control plane nodes are never left out by it.
	// So the control plane and some workers can move now, and the others next month. It cannot be changed.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.size() <= 317)",message="a label's key may have at most 317 characters"
	// +mapType=atomic
	// +kubebuilder:validation:XValidation:rule="self.map(key, key.size() + self[key].size()).sum() <= 2048",message="all labels together may have at most 2048 characters"
	NodeSelector Labels `json:"nodeSelector,omitempty"`

	// Approval says whether the plan waits for a person: with Required nothing is disrupted before approvedPlan names the plan's hash.
	// To set None needs the verb `approve`, and so does a change of waivers or pools as long as it is None.
	// +optional
	// +kubebuilder:default=Required
	Approval Approval `json:"approval,omitempty"`

	// ApprovedPlan is the hash of the plan that was approved (status.plan.hash). To set it needs the right to the verb `approve` on
	// clusterupgrades, so that approving can be another person's right than asking. Empty again, it withdraws the approval.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^(sha256:[0-9a-f]{64})?$`
	ApprovedPlan string `json:"approvedPlan,omitempty"`

	// Paused grants nothing new: a host that is being changed comes to its end, a node that was only being emptied is uncordoned and given back, then
	// everything waits.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// Aborted ends the operation for good: the nodes at work are brought to a safe state and uncordoned. It cannot be taken back.
	// +optional
	Aborted bool `json:"aborted,omitempty"`

	// Retry is raised by a person after the cause of a failure was fixed: failed nodes continue at the step that failed. It cannot be lowered.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Retry int64 `json:"retry,omitempty"`

	// Waivers set findings of the preflight checks aside, each by name and with a reason. There is no way to set all aside.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.map(w, w.check.size() + w.reason.size() + w.?object.orValue('').size()).sum() <= 10240",message="all waivers together may have at most 10240 characters"
	Waivers []Waiver `json:"waivers,omitempty"`

	// Rollback says what happens to a node that does not become healthy at the new version: with Auto its agent puts it back by itself,
	// with Manual the operation stops and asks.
	// +optional
	// +kubebuilder:default=Auto
	Rollback Rollback `json:"rollback,omitempty"`

	// Pools give groups of workers a policy of their own. A node belongs to the first pool whose selector matches it; the rest belong to the pool
	// `default`, wherever that is listed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(q, q.name == p.name))",message="two pools have the same name"
	// +kubebuilder:validation:XValidation:rule="self.map(p, has(p.nodeSelector) ? p.nodeSelector.map(key, key.size() + p.nodeSelector[key].size()).sum() : 0).sum() <= 4096",message="the labels of all pools together may have at most 4096 characters"
	Pools []Pool `json:"pools,omitempty"`
}

// Target is what to move to: a version, or one ClusterRelease by its name. Exactly one of them.
//
// +kubebuilder:validation:XValidation:rule="has(self.kubernetes) != has(self.release)",message="give exactly one of kubernetes and release"
type Target struct {
	// Kubernetes is the version to reach, such as v1.36.3; a pre-release is refused. Each hop on the way uses the newest ClusterRelease of its minor version
	// that the cluster has; the last one is exactly this version.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// Release is the name of the ClusterRelease to reach.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:MinLength=1
	Release string `json:"release,omitempty"`
}

// Scope is which part of a cluster moves.
// +kubebuilder:validation:Enum=All;ControlPlane;Workers
type Scope string

// The scopes.
const (
	ScopeAll          Scope = "All"
	ScopeControlPlane Scope = "ControlPlane"
	ScopeWorkers      Scope = "Workers"
)

// Approval says whether a plan waits for a person.
// +kubebuilder:validation:Enum=Required;None
type Approval string

// The kinds of approval.
const (
	ApprovalRequired Approval = "Required"
	ApprovalNone     Approval = "None"
)

// Rollback says who puts a node back that does not become healthy.
// +kubebuilder:validation:Enum=Auto;Manual
type Rollback string

// The kinds of rollback.
const (
	RollbackAuto   Rollback = "Auto"
	RollbackManual Rollback = "Manual"
)

// Waiver sets one finding aside.
type Waiver struct {
	// Check is the finding's id, as `refit check` prints it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Check string `json:"check,omitempty"`
	// Object limits the waiver to one object, as `refit check` prints it (`PodDisruptionBudget shop/cart`). Empty: every object of this check.
	// +optional
	// +kubebuilder:validation:MaxLength=384
	Object string `json:"object,omitempty"`
	// Reason is why it is right to go on. It is kept with the operation.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason,omitempty"`
}
