package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterUpgrade describes one upgrade of the cluster and reports its progress. It remains as a
// record after the upgrade has ended.
//
// Only the oldest ClusterUpgrade that has not ended is active; all others are queued.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cu;cup,categories=refit
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="a name may have at most 63 characters"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.epoch) || (has(self.status) && has(self.status.epoch) && self.status.epoch >= oldSelf.status.epoch)",message="status.epoch cannot be lowered: the writer is no longer the leader"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in ['Succeeded', 'Aborted']) || (has(self.status) && has(self.status.phase) && self.status.phase == oldSelf.status.phase)",message="this operation has ended and cannot start again: create another ClusterUpgrade"
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

	// spec is the desired upgrade.
	// +required
	Spec ClusterUpgradeSpec `json:"spec"`
	// status is the observed state of the upgrade.
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

// ClusterUpgradeSpec is the desired upgrade.
//
// +kubebuilder:validation:XValidation:rule="has(self.nodeSelector) && has(oldSelf.nodeSelector) ? self.nodeSelector == oldSelf.nodeSelector : (!has(self.nodeSelector) || self.nodeSelector.size() == 0) && (!has(oldSelf.nodeSelector) || oldSelf.nodeSelector.size() == 0)",message="nodeSelector cannot be changed: create another ClusterUpgrade"
// +kubebuilder:validation:XValidation:rule="!oldSelf.?aborted.orValue(false) || self.?aborted.orValue(false)",message="aborted cannot be unset: create another ClusterUpgrade"
// +kubebuilder:validation:XValidation:rule="self.?retry.orValue(0) >= oldSelf.?retry.orValue(0)",message="retry cannot be lowered"
type ClusterUpgradeSpec struct {
	// target is the version or ClusterRelease to upgrade to. It is immutable: create another
	// ClusterUpgrade instead.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="target cannot be changed: create another ClusterUpgrade"
	Target Target `json:"target,omitzero"`

	// scope is the part of the cluster to upgrade: All (control plane and workers), ControlPlane
	// (only control plane nodes) or Workers (only workers). It is immutable.
	// +optional
	// +kubebuilder:default=All
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="scope cannot be changed: create another ClusterUpgrade"
	Scope Scope `json:"scope,omitempty"`

	// nodeSelector limits the upgrade to workers that have all of these labels. It does not apply
	// to control plane nodes. It is immutable.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.size() <= 317)",message="a label's key may have at most 317 characters"
	// +mapType=atomic
	// +kubebuilder:validation:XValidation:rule="self.map(key, key.size() + self[key].size()).sum() <= 2048",message="all labels together may have at most 2048 characters"
	NodeSelector Labels `json:"nodeSelector,omitempty"`

	// approval defines whether the plan needs approval. Required: no node is disrupted until
	// approvedPlan is the hash of the plan. None: the upgrade starts without approval. Setting None
	// requires the verb `approve`, and so does a change of waivers, pools, backup or window while
	// it is None.
	// +optional
	// +kubebuilder:default=Required
	Approval Approval `json:"approval,omitempty"`

	// approvedPlan is the hash of the approved plan (status.plan.hash). Setting it requires the
	// verb `approve` on clusterupgrades, so that creating and approving an upgrade can be separate
	// permissions. An empty value withdraws the approval.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^(sha256:[0-9a-f]{64})?$`
	ApprovedPlan string `json:"approvedPlan,omitempty"`

	// paused stops the upgrade from starting further nodes. A node that is being changed completes;
	// a node whose host is unchanged is uncordoned and released.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// aborted ends the upgrade permanently: active nodes reach a safe state and are
	// uncordoned. It cannot be unset.
	// +optional
	Aborted bool `json:"aborted,omitempty"`

	// window is the name of the MaintenanceWindow in which nodes and components may be disrupted.
	// Without one, they may at any time. It is a part of the plan: a change needs approval again,
	// and requires the verb `approve` while approval is None.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	Window string `json:"window,omitempty"`

	// openUntil opens the window for this upgrade until this time, which is at most 24 hours ahead.
	// The change requires the verb `approve`.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	OpenUntil *metav1.Time `json:"openUntil,omitempty"`

	// abandonedNodes are nodes whose hosts do not come back. The upgrade neither waits for them nor
	// changes them, and they do not count against maxUnavailable while they are not ready. Their
	// agents get the order to start nothing new, and their cordons stay. A control plane node must
	// also be removed from the cluster before another one is upgraded. A change requires the verb
	// `approve`.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self.map(n, n.size()).sum() <= 1024",message="the names of all abandoned nodes together may have at most 1024 characters"
	AbandonedNodes []string `json:"abandonedNodes,omitempty"`

	// retry is a counter. Increase it after you have fixed the cause of a failure: failed nodes
	// continue at the step that failed. It cannot be lowered.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Retry int64 `json:"retry,omitempty"`

	// waivers waive findings of the preflight checks, each by the ID of its check and with a
	// reason. There is no wildcard for all checks, and some checks cannot be waived.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.map(w, w.check.size() + w.reason.size() + w.?object.orValue('').size()).sum() <= 10240",message="all waivers together may have at most 10240 characters"
	Waivers []Waiver `json:"waivers,omitempty"`

	// backup is the backup of etcd that each hop of the control plane relies on. No control plane
	// node changes before it was stored, read back and tried. To upgrade without one, waive the
	// check BackupProven. A change requires the verb `approve` while approval is None.
	// +optional
	// +kubebuilder:default={}
	// +structType=atomic
	Backup *UpgradeBackup `json:"backup,omitempty"`

	// rollback is the policy for a node that does not become healthy at the new version. Auto: the
	// agent rolls it back. Manual: the upgrade stops and requires manual intervention.
	// +optional
	// +kubebuilder:default=Auto
	Rollback Rollback `json:"rollback,omitempty"`

	// pools define policies for groups of workers. A node belongs to the first pool whose selector
	// matches it; all others belong to the pool `default`, wherever it is listed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(q, q.name == p.name))",message="two pools have the same name"
	// +kubebuilder:validation:XValidation:rule="self.map(p, has(p.nodeSelector) ? p.nodeSelector.map(key, key.size() + p.nodeSelector[key].size()).sum() : 0).sum() <= 4096",message="the labels of all pools together may have at most 4096 characters"
	Pools []Pool `json:"pools,omitempty"`
}

// UpgradeBackup is the backup of etcd that each hop of the control plane relies on.
type UpgradeBackup struct {
	// store is the name of the BackupStore.
	// +optional
	// +kubebuilder:default=local
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Store string `json:"store,omitempty"`
	// drill is how the backup is tried before the control plane changes. Restore: it is restored
	// into a scratch etcd and compared with what was read. Rehearse: then the version of this hop
	// and of each following one also runs on the restored data.
	// +optional
	// +kubebuilder:default=Rehearse
	// +kubebuilder:validation:Enum=Restore;Rehearse
	Drill Drill `json:"drill,omitempty"`
	// maxAge is how old a backup may be when the first control plane node of its hop is selected,
	// counted from the end of its drill. An operation that was parked for longer takes another one.
	// +optional
	// +kubebuilder:default="24h"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1h') && duration(self) <= duration('168h')",message="must be at least 1h and at most 168h"
	MaxAge metav1.Duration `json:"maxAge,omitzero"`
}

// Target is what to upgrade to: a Kubernetes version or a ClusterRelease by name. Exactly one must
// be set.
//
// +kubebuilder:validation:XValidation:rule="has(self.kubernetes) != has(self.release)",message="set exactly one of kubernetes and release"
type Target struct {
	// kubernetes is the version to reach, such as v1.36.3; pre-releases are not supported. Each hop
	// uses the newest available ClusterRelease of its minor version; the last hop has exactly this
	// version.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// release is the name of the ClusterRelease to upgrade to.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:MinLength=1
	Release string `json:"release,omitempty"`
}

// Scope is the part of a cluster to upgrade.
// +kubebuilder:validation:Enum=All;ControlPlane;Workers
type Scope string

// The scopes.
const (
	ScopeAll          Scope = "All"
	ScopeControlPlane Scope = "ControlPlane"
	ScopeWorkers      Scope = "Workers"
)

// Approval defines whether a plan needs approval.
// +kubebuilder:validation:Enum=Required;None
type Approval string

// The kinds of approval.
const (
	ApprovalRequired Approval = "Required"
	ApprovalNone     Approval = "None"
)

// Rollback is the policy for a node that does not become healthy.
// +kubebuilder:validation:Enum=Auto;Manual
type Rollback string

// The kinds of rollback.
const (
	RollbackAuto   Rollback = "Auto"
	RollbackManual Rollback = "Manual"
)

// Waiver waives a finding of a check.
type Waiver struct {
	// check is the ID of the check, as `refit check` prints it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Check string `json:"check,omitempty"`
	// object limits the waiver to one object, as `refit check` prints it (`PodDisruptionBudget
	// shop/cart`). If empty, it applies to every object of the check.
	// +optional
	// +kubebuilder:validation:MaxLength=384
	Object string `json:"object,omitempty"`
	// reason is why the finding is acceptable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason,omitempty"`
}
