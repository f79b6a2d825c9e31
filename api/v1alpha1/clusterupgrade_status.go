package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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

	// Failures are the nodes that failed, at most 16 of them; nodes.failed counts them all. The log of a failure is in the node's NodeUpgrade.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Failures []Failure `json:"failures,omitempty"`

	// message is a human-readable summary of the current activity, or of what the operation waits
	// for. It is never parsed: waiting, plan, nodes and failures have the details as fields.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`

	// waiting lists what the operation waits for, the most important first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=6
	Waiting []WaitingFor `json:"waiting,omitempty"`

	// Conditions: Ready, Reconciling and Stalled as kstatus reads them, and those that are Refit's own.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.type.size() <= 64 && c.reason.size() <= 64 && c.message.size() <= 512 && c.lastTransitionTime > timestamp('2000-01-01T00:00:00Z'))",message="a condition's type may have at most 64 characters, its reason 64 and its message 512, and its time must be set"
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// HasEnded says whether the operation is over for good. The conditions are the truth; the phase is only derived from them.
func (u *ClusterUpgrade) HasEnded() bool {
	ready := meta.FindStatusCondition(u.Status.Conditions, ConditionReady)
	return ready != nil && (ready.Status == metav1.ConditionTrue || ready.Reason == ReasonAborted)
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
	// hash is the hash of the plan that the operation follows. Set spec.approvedPlan to it to
	// approve the plan.
	// +required
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Hash string `json:"hash,omitempty"`
	// proposedHash is the hash of the plan that the cluster needs now, where that differs from the
	// plan that was approved. Set spec.approvedPlan to it to continue with the changed plan.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	ProposedHash string `json:"proposedHash,omitempty"`
	// from is the version of the control plane when the plan was made.
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
	// Release is the ClusterRelease that is installed.
	// +optional
	Release ReleaseRef `json:"release,omitzero"`
}

// ReleaseRef names a ClusterRelease and pins what it contains.
type ReleaseRef struct {
	// Name is the ClusterRelease's name.
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
	// total is the number of nodes that the stage changes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Total int32 `json:"total,omitempty"`
	// done is the number of those nodes that have completed the stage.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Done int32 `json:"done,omitempty"`
}

// WaitingFor is one thing that an operation waits for.
type WaitingFor struct {
	// reason is a CamelCase word for the cause.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Reason string `json:"reason,omitempty"`
	// node is the node that waits or is waited for, if the wait concerns one node.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Node string `json:"node,omitempty"`
	// message is what the operation waits for.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=384
	Message string `json:"message,omitempty"`
	// remedy is what you can do about it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Remedy string `json:"remedy,omitempty"`
	// actionRequired is true if the wait does not end without manual intervention.
	// +optional
	ActionRequired bool `json:"actionRequired,omitempty"`
	// moreNodes is the number of further nodes that wait for the same thing.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	MoreNodes int32 `json:"moreNodes,omitempty"`
	// since is when the wait began.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	Since *metav1.Time `json:"since,omitempty"`
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
// +kubebuilder:validation:Enum=Transient;ManualInterventionRequired;HostBroken
type FailureClass string

// The kinds of failure.
const (
	FailureTransient          FailureClass = "Transient"                  // goes away by itself, and is tried again
	FailureManualIntervention FailureClass = "ManualInterventionRequired" // a person must mend something, then say retry
	FailureHostBroken         FailureClass = "HostBroken"                 // the host itself must be repaired
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
	// +kubebuilder:validation:Pattern=`^[0-9a-zA-Z-]{1,36}$`
	UID types.UID `json:"uid,omitempty"`
}
