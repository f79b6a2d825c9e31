package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
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
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.target.*`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Done",type=integer,JSONPath=`.status.nodes.done`
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.nodes.total`
// +kubebuilder:printcolumn:name="Doing",type=string,JSONPath=`.status.doing`
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.doingSince`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Plan",type=string,JSONPath=`.status.plan.hash`,priority=1
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=`.status.nodes.failed`,priority=1
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

// Target is what to move to: a version, or one Release by its name. Exactly one of them.
//
// +kubebuilder:validation:XValidation:rule="has(self.kubernetes) != has(self.release)",message="give exactly one of kubernetes and release"
type Target struct {
	// Kubernetes is the version to reach, such as v1.36.3; a pre-release is refused. Each hop on the way uses the newest Release of its minor version
	// that the cluster has; the last one is exactly this version.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// Release is the name of the Release to reach.
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

// ClusterUpgradeStatus is how far the operation is. The conditions are the truth, the phase is derived from them.
type ClusterUpgradeStatus struct {
	// ObservedGeneration is the generation of the spec that this status speaks of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Phase is the conditions in one word, for people.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// Epoch is raised by each new leader before it acts, so that a leader that lost its lease cannot claim anything any more. It counts on from the
	// operations before this one, because the orders to a node never go back to a lower one. It cannot be lowered.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Epoch int64 `json:"epoch,omitempty"`

	// Active names the nodes at work: those that were claimed and are not finished. Its length is the most nodes that can be at work at once,
	// whatever the pools allow.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Active []string `json:"active,omitempty"`

	// Plan is what was planned, in numbers. `refit plan` prints it whole.
	// +optional
	// +structType=atomic
	Plan *PlanSummary `json:"plan,omitempty"`

	// Nodes counts the nodes that the plan touches.
	// +optional
	// +structType=atomic
	Nodes NodeCounts `json:"nodes,omitzero"`

	// Failures are the nodes that failed, at most 20 of them; nodes.failed counts them all. The log of a failure is in the node's NodeUpgrade.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Failures []Failure `json:"failures,omitempty"`

	// Doing is what is happening, or what is being waited for.
	// +optional
	// +kubebuilder:validation:MaxLength=768
	Doing string `json:"doing,omitempty"`

	// DoingSince is when that began. Clients compute the time that has passed; nothing is written for each tick.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	DoingSince *metav1.Time `json:"doingSince,omitempty"`

	// Conditions: Ready, Reconciling and Stalled as kstatus reads them, and those that are Refit's own.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.type.size() <= 64 && c.reason.size() <= 64 && c.message.size() <= 768 && c.lastTransitionTime > timestamp('2000-01-01T00:00:00Z'))",message="a condition's type and reason may have at most 64 characters, its message at most 768, and its time must be one"
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Phase is an operation's conditions in one word.
// +kubebuilder:validation:Enum=Planning;AwaitingApproval;Waiting;Running;Paused;Stalled;Aborting;Succeeded;Aborted
type Phase string

// The phases of an operation.
const (
	PhasePlanning         Phase = "Planning"
	PhaseAwaitingApproval Phase = "AwaitingApproval"
	PhaseWaiting          Phase = "Waiting" // for an older operation
	PhaseRunning          Phase = "Running"
	PhasePaused           Phase = "Paused"
	PhaseStalled          Phase = "Stalled"
	PhaseAborting         Phase = "Aborting"
	PhaseSucceeded        Phase = "Succeeded"
	PhaseAborted          Phase = "Aborted"
)

// PlanSummary is the plan in numbers, and the path that it was made for: a plan is made once and then followed, however far the cluster has come.
type PlanSummary struct {
	// Hash is the plan's hash, which approvedPlan repeats.
	// +required
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Hash string `json:"hash,omitempty"`
	// From is the version of the control plane when the plan was made.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	From string `json:"from,omitempty"`
	// WorkersFrom is the oldest version of a worker when the plan was made.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	WorkersFrom string `json:"workersFrom,omitempty"`
	// To is the version that is reached at the end.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	To string `json:"to,omitempty"`
	// Hops are the control plane's versions on the way, one minor version at a time, the last one is the target.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Hops []Hop `json:"hops,omitempty"`
	// Stages are the parts of the plan in their order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=40
	Stages []StageSummary `json:"stages,omitempty"`
	// Estimate is how long the whole was expected to take when the plan was made.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	Estimate metav1.Duration `json:"estimate,omitzero"`
}

// Hop is one step of the control plane's version.
type Hop struct {
	// Kubernetes is the version that this hop reaches.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// Release is the Release that is installed.
	// +optional
	Release ReleaseRef `json:"release,omitzero"`
}

// ReleaseRef names a Release and pins what it contains.
type ReleaseRef struct {
	// Name is the Release's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`
	// Digest is the digest of its signed payload.
	// +required
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`
}

// StageName is one of the parts of a plan.
// +kubebuilder:validation:Enum=Prefetch;ControlPlane;Workers;Verify
type StageName string

// The stages.
const (
	StagePrefetch     StageName = "Prefetch"
	StageControlPlane StageName = "ControlPlane"
	StageWorkers      StageName = "Workers"
	StageVerify       StageName = "Verify"
)

// StageSummary is one part of the plan in numbers.
type StageSummary struct {
	// Name is the stage.
	// +required
	Name StageName `json:"name,omitempty"`
	// Kubernetes is the version that the stage brings.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// Nodes is how many nodes the stage touches.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Nodes int32 `json:"nodes,omitempty"`
	// Done is how many of them are done.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Done int32 `json:"done,omitempty"`
}

// NodeCounts counts nodes.
type NodeCounts struct {
	// Total is how many nodes the plan touches.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Total int32 `json:"total,omitempty"`
	// Done is how many of them are at the target and healthy.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Done int32 `json:"done,omitempty"`
	// Failed is how many of them failed and wait for a person.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Failed int32 `json:"failed,omitempty"`
	// Skipped is how many of them were left for later because they could not be emptied.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Skipped int32 `json:"skipped,omitempty"`
}

// Failure is one node that failed.
type Failure struct {
	// Node is the node's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Node string `json:"node,omitempty"`
	// Class is the kind of failure.
	// +required
	Class FailureClass `json:"class,omitempty"`
	// Step is the step that failed.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`
	Step string `json:"step,omitempty"`
	// Message is what happened.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// Remedy is what a person can do about it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Remedy string `json:"remedy,omitempty"`
}

// FailureClass is a kind of failure, which says who can mend it.
// +kubebuilder:validation:Enum=Transient;NeedsPerson;HostBroken
type FailureClass string

// The kinds of failure.
const (
	FailureTransient   FailureClass = "Transient"   // goes away by itself, and is tried again
	FailureNeedsPerson FailureClass = "NeedsPerson" // a person must mend something, then say retry
	FailureHostBroken  FailureClass = "HostBroken"  // the host itself must be repaired
)

// Operation names the ClusterUpgrade that a piece of work belongs to.
type Operation struct {
	// Name is the ClusterUpgrade's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`
	// UID is the ClusterUpgrade's UID, since one of the same name may be made again.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=36
	UID types.UID `json:"uid,omitempty"`
}
