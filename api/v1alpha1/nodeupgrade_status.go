package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeUpgradeStatus is the progress of an order.
type NodeUpgradeStatus struct {
	// observedGeneration is the generation of the order that the agent's part of this status is
	// about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// observedSequence is the sequence of the order that the agent's part of this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedSequence int64 `json:"observedSequence,omitempty"`

	// drain is the state of the drain. The controller writes it.
	// +optional
	// +structType=atomic
	Drain *DrainStatus `json:"drain,omitempty"`

	// trial is the state of the test Pod on an upgraded control plane node. The controller writes
	// it.
	// +optional
	// +structType=atomic
	Trial *TrialStatus `json:"trial,omitempty"`

	// phase is the phase of the order. Idle: nothing to do. Prefetching: the agent downloads files
	// and images. Prefetched: all of them are verified. Applying: the agent upgrades the node.
	// Succeeded: the node is healthy at the target. Failed: the agent stopped, see error.
	// RollingBack: the agent rolls the node back. RolledBack: the node is healthy at its previous
	// version.
	// +optional
	Phase NodePhase `json:"phase,omitempty"`

	// step is the current step.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`
	Step string `json:"step,omitempty"`

	// steps are the started and completed steps, in order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	Steps []StepStatus `json:"steps,omitempty"`

	// left is what a rollback left unchanged, each with the reason, at most 4. `refit-agent status`
	// lists all of it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MaxLength=128
	Left []string `json:"left,omitempty"`
	// moreLeft is the number of entries beyond those.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MoreLeft int64 `json:"moreLeft,omitempty"`

	// startTime is when the agent started to change the node.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the phase became Succeeded, Failed or RolledBack.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// error is the last failure.
	// +optional
	// +structType=atomic
	Error *NodeError `json:"error,omitempty"`

	// backup is the state of the last backup that the agent has taken.
	// +optional
	// +structType=atomic
	Backup *NodeBackupStatus `json:"backup,omitempty"`

	// bootID is the boot ID of the host, which changes with each boot.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	BootID string `json:"bootID,omitempty"`

	// agentVersion is the version of the agent.
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

// NodePhase is the phase of an order.
// +kubebuilder:validation:Enum=Idle;Prefetching;Prefetched;Applying;Succeeded;Failed;RollingBack;RolledBack
type NodePhase string

// The phases of an order.
const (
	NodeIdle        NodePhase = "Idle"
	NodePrefetching NodePhase = "Prefetching"
	NodePrefetched  NodePhase = "Prefetched" // files and images are verified
	NodeApplying    NodePhase = "Applying"
	NodeSucceeded   NodePhase = "Succeeded" // healthy at the target
	NodeFailed      NodePhase = "Failed"    // see error
	NodeRollingBack NodePhase = "RollingBack"
	NodeRolledBack  NodePhase = "RolledBack" // healthy at the previous version
)

// DrainStatus is the state of a drain.
type DrainStatus struct {
	// sequence is the sequence of the order that the node is drained for.
	// +required
	// +kubebuilder:validation:Minimum=1
	Sequence int64 `json:"sequence,omitempty"`
	// phase is the phase of the drain. Draining: pods are being evicted. Blocked: no pod can be
	// evicted, see blockers. Drained: the node is drained. Skipped: the node was skipped, as
	// onBlocked defines. Failed: the drain failed, as onBlocked defines.
	// +required
	Phase DrainPhase `json:"phase,omitempty"`
	// startTime is when the drain started.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// completionTime is when the drain ended.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// delete is true if Refit deletes pods that a PodDisruptionBudget protects, as onBlocked of the
	// pool defines.
	// +optional
	Delete bool `json:"delete,omitempty"`
	// remaining is the number of pods that are still on the node.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Remaining int32 `json:"remaining,omitempty"`
	// blockers are pods that block the drain, at most 5.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	Blockers []Blocker `json:"blockers,omitempty"`
}

// DrainPhase is the phase of a drain.
// +kubebuilder:validation:Enum=Draining;Blocked;Drained;Skipped;Failed
type DrainPhase string

// The phases of a drain.
const (
	DrainDraining DrainPhase = "Draining"
	DrainBlocked  DrainPhase = "Blocked" // see blockers
	DrainDrained  DrainPhase = "Drained"
	DrainSkipped  DrainPhase = "Skipped" // as onBlocked defines
	DrainFailed   DrainPhase = "Failed"  // as onBlocked defines
)

// Blocker is a pod that blocks a drain.
type Blocker struct {
	// pod is namespace/name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Pod string `json:"pod,omitempty"`
	// reason is why the pod cannot be evicted.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Reason string `json:"reason,omitempty"`
	// waiver is the check whose waiver lets the pod go, such as UnmanagedPod. It is empty if no
	// waiver does.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Waiver string `json:"waiver,omitempty"`
	// object is the object of that waiver, such as StatefulSet shop/db.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Object string `json:"object,omitempty"`
}

// TrialStatus is the state of a Pod that tests DNS and access to the API on a node.
type TrialStatus struct {
	// sequence is the sequence of the order after which the node is tested.
	// +required
	// +kubebuilder:validation:Minimum=1
	Sequence int64 `json:"sequence,omitempty"`
	// phase is the phase of the trial: Running, Passed or Failed. Refit retries a failed trial.
	// +required
	Phase TrialPhase `json:"phase,omitempty"`
	// message is why the trial failed or was skipped.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// startTime is when the trial started.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// completionTime is when the phase became Passed or Failed.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// TrialPhase is the phase of a trial.
// +kubebuilder:validation:Enum=Running;Passed;Failed
type TrialPhase string

// The phases of a trial.
const (
	TrialRunning TrialPhase = "Running"
	TrialPassed  TrialPhase = "Passed"
	TrialFailed  TrialPhase = "Failed" // see message; Refit retries
)

// StepStatus is the state of a step.
type StepStatus struct {
	// name is the step, as `refit-agent steps` prints it.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`
	Name string `json:"name,omitempty"`
	// state is the state of the step: Running, Done, Failed or Undone (its change was undone by a
	// rollback).
	// +required
	State StepState `json:"state,omitempty"`
	// startTime is when the step started.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// completionTime is when the step ended.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// StepState is the state of a step.
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
	// class is the class of the failure. Transient: Refit retries. ManualInterventionRequired: fix
	// the cause, then retry. HostBroken: repair the host.
	// +required
	Class FailureClass `json:"class,omitempty"`
	// reason is the failure in one CamelCase word.
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Reason string `json:"reason,omitempty"`
	// step is the step that failed.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`
	Step string `json:"step,omitempty"`
	// message describes the failure.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// remedy is how to fix it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Remedy string `json:"remedy,omitempty"`
	// logTail is the end of the log of the failed component.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	LogTail string `json:"logTail,omitempty"`
	// at is when the failure occurred.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	At metav1.Time `json:"at,omitzero"`
}
