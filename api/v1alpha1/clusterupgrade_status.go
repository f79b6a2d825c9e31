package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ClusterUpgradeStatus is the observed state of an upgrade. The phase is derived from the
// conditions.
type ClusterUpgradeStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase summarizes the conditions in one word. Planning: Refit checks the cluster and makes the
	// plan. AwaitingApproval: the plan is not approved. Waiting: an older ClusterUpgrade is active.
	// Running: the upgrade is in progress. Paused: spec.paused is set. Stalled: manual intervention
	// is required. Aborting: active nodes reach a safe state. Succeeded: all nodes are at
	// the target. Aborted: the upgrade ended because spec.aborted was set.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// epoch is raised by each new leader before it acts, so that a former leader cannot select
	// nodes. It continues from earlier upgrades, because the epoch of orders to a node never
	// decreases. It cannot be lowered.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Epoch int64 `json:"epoch,omitempty"`

	// active lists the nodes that are being upgraded, at most 256, whatever the pools allow.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Active []string `json:"active,omitempty"`

	// plan summarizes the plan. `refit plan` prints all of it.
	// +optional
	// +structType=atomic
	Plan *PlanSummary `json:"plan,omitempty"`

	// nodes counts the nodes of the plan.
	// +optional
	// +structType=atomic
	Nodes NodeCounts `json:"nodes,omitzero"`

	// failures lists a failed component and failed nodes, at most 16; nodes.failed counts all of
	// the nodes. The NodeUpgrade of a node has the log.
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

	// conditions are Ready, Reconciling and Stalled as kstatus defines them, and PreflightPassed,
	// Planned, Approved and Queued.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.type.size() <= 64 && c.reason.size() <= 64 && c.message.size() <= 512 && c.lastTransitionTime > timestamp('2000-01-01T00:00:00Z'))",message="a condition's type may have at most 64 characters, its reason 64 and its message 512, and its time must be set"
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// HasEnded reports whether the upgrade has ended permanently.
func (u *ClusterUpgrade) HasEnded() bool {
	ready := meta.FindStatusCondition(u.Status.Conditions, ConditionReady)
	return ready != nil && (ready.Status == metav1.ConditionTrue || ready.Reason == ReasonAborted)
}

// Phase summarizes the conditions of an upgrade.
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

// PlanSummary summarizes the plan.
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
	// workersFrom is the oldest version of a worker when the plan was made.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	WorkersFrom string `json:"workersFrom,omitempty"`
	// to is the target version.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	To string `json:"to,omitempty"`
	// hops are the versions of the control plane, one minor version at a time. The last one is the
	// target.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	Hops []Hop `json:"hops,omitempty"`
	// stages are the stages of the plan, in order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=36
	Stages []StageSummary `json:"stages,omitempty"`
	// components are the changes of components, in order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Components []PlannedComponent `json:"components,omitempty"`
	// estimate is the estimated duration of the upgrade when the plan was made.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	Estimate metav1.Duration `json:"estimate,omitzero"`
}

// Hop is one minor version step of the control plane.
type Hop struct {
	// kubernetes is the version that this hop reaches. It has no patch version while the cluster
	// has no ClusterRelease of the hop.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))?$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// release is the ClusterRelease of the hop.
	// +optional
	Release ReleaseRef `json:"release,omitzero"`
}

// ReleaseRef references a ClusterRelease and pins its content.
type ReleaseRef struct {
	// name is the name of the ClusterRelease.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`
	// digest is the digest of its signed payload.
	// +required
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`
}

// StageName is the name of a stage.
// +kubebuilder:validation:Enum=Prefetch;Backup;Rehearsal;ComponentsBefore;ControlPlane;Components;Workers;Verify
type StageName string

// The stages.
const (
	StagePrefetch         StageName = "Prefetch"
	StageBackup           StageName = "Backup"
	StageRehearsal        StageName = "Rehearsal"
	StageComponentsBefore StageName = "ComponentsBefore"
	StageControlPlane     StageName = "ControlPlane"
	StageComponents       StageName = "Components"
	StageWorkers          StageName = "Workers"
	StageVerify           StageName = "Verify"
)

// StageSummary summarizes a stage.
type StageSummary struct {
	// name is the stage. Prefetch: agents download files and images. Backup: etcd is backed up, and
	// the backup is restored in a drill. Rehearsal: the new versions run on the restored data.
	// ComponentsBefore: components are upgraded that would not run on the new version.
	// ControlPlane: control plane nodes are upgraded. Components: the other components are
	// upgraded. Workers: workers are upgraded. Verify: the cluster is verified.
	// +required
	Name StageName `json:"name,omitempty"`
	// kubernetes is the version that the stage installs, without a patch version like that of its
	// hop.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))?$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// total is the number of nodes or components that the stage changes. It is 1 for Backup and
	// Rehearsal.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Total int32 `json:"total,omitempty"`
	// done is the number of those that have completed the stage, or 1 once the backup is proven.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Done int32 `json:"done,omitempty"`
	// startTime is when the stage started: the stages before it were complete and the upgrade was
	// running.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// completionTime is when the stage was complete for the first time.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// PlannedComponent is the change of a component in a plan.
type PlannedComponent struct {
	// name is the name of the component.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`
	// stage is the stage that changes the component.
	// +required
	// +kubebuilder:validation:Enum=ComponentsBefore;Components
	Stage StageName `json:"stage,omitempty"`
	// kubernetes is the version of the stage.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))?$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// runsOn is the version of Kubernetes during the change.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	RunsOn string `json:"runsOn,omitempty"`
	// action is Install, Upgrade or Remove.
	// +required
	// +kubebuilder:validation:Enum=Install;Upgrade;Remove
	Action ComponentAction `json:"action,omitempty"`
	// from is the version before the change. It is absent if the component is installed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	From string `json:"from,omitempty"`
	// to is the version after the change. It is absent if the component is removed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	To string `json:"to,omitempty"`
	// digest is what the plan's hash covers: the digest of the component's offer, or of its signed
	// chart, values and recipe while the offer cannot be computed yet.
	// +required
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`
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
	// component is the component that waits or is waited for, if the wait concerns one component.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Component string `json:"component,omitempty"`
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
	// total is the number of nodes in the plan.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Total int32 `json:"total,omitempty"`
	// done is the number of nodes that are healthy at the target.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Done int32 `json:"done,omitempty"`
	// failed is the number of failed nodes, which require manual intervention.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Failed int32 `json:"failed,omitempty"`
	// skipped is the number of nodes that were skipped because they could not be drained.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Skipped int32 `json:"skipped,omitempty"`
}

// Failure describes a failed node or component.
//
// +kubebuilder:validation:XValidation:rule="has(self.node) != has(self.component)",message="a failure is that of a node or of a component"
type Failure struct {
	// node is the node's name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Node string `json:"node,omitempty"`
	// component is the component's name, if it is no node that failed.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Component string `json:"component,omitempty"`
	// class is the class of the failure. Transient: Refit retries. ManualInterventionRequired: fix
	// the cause, then retry. HostBroken: repair the host.
	// +required
	Class FailureClass `json:"class,omitempty"`
	// step is the step that failed.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`
	Step string `json:"step,omitempty"`
	// message describes the failure.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// remedy is how to fix it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Remedy string `json:"remedy,omitempty"`
}

// FailureClass is the class of a failure.
// +kubebuilder:validation:Enum=Transient;ManualInterventionRequired;HostBroken
type FailureClass string

// The kinds of failure.
const (
	FailureTransient          FailureClass = "Transient"                  // Refit retries
	FailureManualIntervention FailureClass = "ManualInterventionRequired" // fix the cause, then retry
	FailureHostBroken         FailureClass = "HostBroken"                 // repair the host
)

// Operation references a ClusterUpgrade.
type Operation struct {
	// name is the name of the ClusterUpgrade.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`
	// uid is the UID of the ClusterUpgrade, because a name can be reused.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=36
	// +kubebuilder:validation:Pattern=`^[0-9a-zA-Z-]{1,36}$`
	UID types.UID `json:"uid,omitempty"`
}
