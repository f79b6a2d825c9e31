package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// NodeUpgrade is the work on one node, and is named like the node. It is used again by each operation, so two operations on one node cannot exist.
//
// The controller writes the spec, status.drain and status.trial, the node's agent the rest of the status.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=nu;nup,categories=refit
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Release",type=string,JSONPath=`.spec.release.name`
// +kubebuilder:printcolumn:name="Permit",type=string,JSONPath=`.spec.permit`
// +kubebuilder:printcolumn:name="Drain",type=string,JSONPath=`.status.drain.phase`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Step",type=string,JSONPath=`.status.step`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.spec.orderTime`
// +kubebuilder:printcolumn:name="Error",type=string,JSONPath=`.status.error.message`,priority=1
// +kubebuilder:printcolumn:name="Operation",type=string,JSONPath=`.spec.operation.name`,priority=1
// +kubebuilder:printcolumn:name="Sequence",type=integer,JSONPath=`.spec.sequence`,priority=1
// +kubebuilder:printcolumn:name="Agent",type=string,JSONPath=`.status.agentVersion`,priority=1
type NodeUpgrade struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the order. The controller's.
	// +required
	Spec NodeUpgradeSpec `json:"spec"`
	// Status is how far the work is. The agent's, but for drain and trial.
	// +optional
	Status NodeUpgradeStatus `json:"status,omitzero"`
}

// NodeUpgradeList is a list of NodeUpgrades.
//
// +kubebuilder:object:root=true
type NodeUpgradeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeUpgrade `json:"items"`
}

// The formats of orders. An order is written in the lowest format that carries its fields; an agent
// refuses one above the highest that it reads, which its NodeReport holds.
const (
	MinOrderFormat = 1
	MaxOrderFormat = 1
)

// NodeUpgradeSpec is an order: which release, and how far to go. It never names a command, a path or a script.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf || self.sequence > oldSelf.sequence",message="every change of an order must raise its sequence"
// +kubebuilder:validation:XValidation:rule="self.epoch >= oldSelf.epoch",message="epoch cannot be lowered: whoever wrote this is no longer the leader"
type NodeUpgradeSpec struct {
	// Format is the order's format; an agent refuses one that it does not know.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Format int32 `json:"format,omitempty"`
	// Operation is the ClusterUpgrade that the order belongs to.
	// +required
	// +structType=atomic
	Operation Operation `json:"operation,omitzero"`
	// NodeUID is the UID of the Node that is meant. A node that was removed and joined again under the same name is another one.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=36
	NodeUID types.UID `json:"nodeUID,omitempty"`
	// MachineID is the machine that is meant (/etc/machine-id).
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{32}$`
	MachineID string `json:"machineID,omitempty"`
	// Sequence must be raised with every change of the order. An agent refuses one that is lower than it has seen, also after etcd was restored from a backup.
	// +required
	// +kubebuilder:validation:Minimum=1
	Sequence int64 `json:"sequence,omitempty"`
	// Epoch is the operation's epoch when the order was given. It cannot be lowered, not even by another operation: a leader that lost its lease
	// cannot give orders.
	// +required
	// +kubebuilder:validation:Minimum=1
	Epoch int64 `json:"epoch,omitempty"`
	// Attempt is the operation's retry number that this order answers.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Attempt int64 `json:"attempt,omitempty"`
	// Role is the node's role in the cluster.
	// +required
	Role Role `json:"role,omitempty"`
	// Release is what to install.
	// +required
	// +structType=atomic
	Release ReleaseRef `json:"release,omitzero"`
	// Permit is how far the agent may go.
	// +required
	Permit Permit `json:"permit,omitempty"`
	// Rollback is the operation's policy for a node that does not become healthy.
	// +optional
	// +kubebuilder:default=Auto
	Rollback Rollback `json:"rollback,omitempty"`
	// KeepAddons leaves CoreDNS and kube-proxy as they are, as on the way to a later version: nodes that have fetched nothing of this release have no images
	// of it.
	// +optional
	KeepAddons bool `json:"keepAddons,omitempty"`
	// OrderTime is when the order was given, by the controller's clock.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	OrderTime *metav1.Time `json:"orderTime,omitempty"`
}

// Role is a node's role in the cluster, as far as its steps differ.
// +kubebuilder:validation:Enum=FirstControlPlane;ControlPlane;Worker
type Role string

// The roles.
const (
	RoleFirstControlPlane Role = "FirstControlPlane" // of this hop: it also carries the cluster-wide phases of kubeadm
	RoleControlPlane      Role = "ControlPlane"
	RoleWorker            Role = "Worker"
)

// Permit is how far an agent may go.
// +kubebuilder:validation:Enum=Hold;Prefetch;Apply;Rollback
type Permit string

// The permits.
const (
	PermitHold     Permit = "Hold"     // nothing; a step that has begun is brought to its end
	PermitPrefetch Permit = "Prefetch" // fetch and check, without disrupting anything
	PermitApply    Permit = "Apply"    // change the node
	PermitRollback Permit = "Rollback" // put the node back
)

// NodeUpgradeStatus is how far the work on the node is.
type NodeUpgradeStatus struct {
	// observedGeneration is the generation of the order that the agent's part of this status is
	// about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// ObservedSequence is the order that the agent's part of this status speaks of.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedSequence int64 `json:"observedSequence,omitempty"`

	// Drain is how far the node is emptied. The controller's.
	// +optional
	// +structType=atomic
	Drain *DrainStatus `json:"drain,omitempty"`

	// Trial is whether a Pod runs well on the node since it was changed; control plane nodes only. The controller's.
	// +optional
	// +structType=atomic
	Trial *TrialStatus `json:"trial,omitempty"`

	// Phase is how far the agent is with the order.
	// +optional
	Phase NodePhase `json:"phase,omitempty"`

	// Step is the step at work.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`
	Step string `json:"step,omitempty"`

	// Steps are the steps that ended or are at work, in their order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Steps []StepStatus `json:"steps,omitempty"`

	// StartTime is when the agent began to change the node under this order.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is when the phase became Succeeded, Failed or RolledBack.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Error is the last failure.
	// +optional
	// +structType=atomic
	Error *NodeError `json:"error,omitempty"`

	// BootID is the host's boot id, which tells a reboot in between.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	BootID string `json:"bootID,omitempty"`

	// AgentVersion is the version of the agent.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	AgentVersion string `json:"agentVersion,omitempty"`

	// conditions are Accepted and Ready, which are always present, Reconciling and Stalled as
	// kstatus reads them, and Waiting while a step waits for something outside the host.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.type.size() <= 32 && c.reason.size() <= 64 && c.message.size() <= 128 && c.lastTransitionTime > timestamp('2000-01-01T00:00:00Z'))",message="a condition's type may have at most 32 characters, its reason 64 and its message 128, and its time must be set"
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// NodePhase is how far an agent is with an order.
// +kubebuilder:validation:Enum=Idle;Prefetching;Prefetched;Applying;Succeeded;Failed;RollingBack;RolledBack
type NodePhase string

// The phases of an order.
const (
	NodeIdle        NodePhase = "Idle"
	NodePrefetching NodePhase = "Prefetching"
	NodePrefetched  NodePhase = "Prefetched" // everything is here and checked
	NodeApplying    NodePhase = "Applying"
	NodeSucceeded   NodePhase = "Succeeded" // at the release and proven
	NodeFailed      NodePhase = "Failed"    // stopped, see error
	NodeRollingBack NodePhase = "RollingBack"
	NodeRolledBack  NodePhase = "RolledBack" // back at the old version and proven
)

// DrainStatus is how far a node is emptied.
type DrainStatus struct {
	// Sequence is the order that the node is emptied for.
	// +required
	// +kubebuilder:validation:Minimum=1
	Sequence int64 `json:"sequence,omitempty"`
	// Phase is how far it is.
	// +required
	Phase DrainPhase `json:"phase,omitempty"`
	// StartTime is when the first pod was asked to go.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// CompletionTime is when the node was empty, or given up.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// Delete says that pods that a budget holds are deleted: the pool's policy after its timeout.
	// +optional
	Delete bool `json:"delete,omitempty"`
	// Remaining is how many pods still have to go.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Remaining int32 `json:"remaining,omitempty"`
	// Blockers are what stands in the way, at most 5 of them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	Blockers []Blocker `json:"blockers,omitempty"`
}

// DrainPhase is how far a node is emptied.
// +kubebuilder:validation:Enum=Draining;Blocked;Drained;Skipped;Failed
type DrainPhase string

// The phases of a drain.
const (
	DrainDraining DrainPhase = "Draining"
	DrainBlocked  DrainPhase = "Blocked" // nothing moves; see blockers
	DrainDrained  DrainPhase = "Drained"
	DrainSkipped  DrainPhase = "Skipped" // left for later, as the pool's policy says
	DrainFailed   DrainPhase = "Failed"  // given up, as the pool's policy says
)

// Blocker is one pod that cannot go, and why.
type Blocker struct {
	// Pod is namespace/name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Pod string `json:"pod,omitempty"`
	// Reason is why it cannot go.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Reason string `json:"reason,omitempty"`
}

// TrialStatus is whether a Pod on the node finds the API by its name and reaches it.
type TrialStatus struct {
	// Sequence is the order after which the node is tried.
	// +required
	// +kubebuilder:validation:Minimum=1
	Sequence int64 `json:"sequence,omitempty"`
	// Phase is how far it is.
	// +required
	Phase TrialPhase `json:"phase,omitempty"`
	// Message is why it failed, or why nothing was tried.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// StartTime is when it was asked for.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// CompletionTime is when the phase became Passed or Failed.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// TrialPhase is how far a trial is.
// +kubebuilder:validation:Enum=Running;Passed;Failed
type TrialPhase string

// The phases of a trial.
const (
	TrialRunning TrialPhase = "Running"
	TrialPassed  TrialPhase = "Passed"
	TrialFailed  TrialPhase = "Failed" // see message; it is tried again by itself
)

// StepStatus is one step of the work on a host.
type StepStatus struct {
	// Name is the step, as `refit-agent steps` prints it.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`
	Name string `json:"name,omitempty"`
	// State is how far it is.
	// +required
	State StepState `json:"state,omitempty"`
	// StartTime is when it began.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// CompletionTime is when it ended.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// StepState is how far a step is.
// +kubebuilder:validation:Enum=Running;Done;Failed;Undone
type StepState string

// The states of a step.
const (
	StepRunning StepState = "Running"
	StepDone    StepState = "Done"
	StepFailed  StepState = "Failed"
	StepUndone  StepState = "Undone"
)

// NodeError is why a node failed.
type NodeError struct {
	// Class is the kind of failure.
	// +required
	Class FailureClass `json:"class,omitempty"`
	// Reason is the failure in one CamelCase word.
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Reason string `json:"reason,omitempty"`
	// Step is the step that failed.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`
	Step string `json:"step,omitempty"`
	// Message is what happened.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// Remedy is what a person can do about it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Remedy string `json:"remedy,omitempty"`
	// LogTail is the end of the log of the part that failed.
	// +optional
	// +kubebuilder:validation:MaxLength=2816
	LogTail string `json:"logTail,omitempty"`
	// At is when it happened.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	At metav1.Time `json:"at,omitzero"`
}
