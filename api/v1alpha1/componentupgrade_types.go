package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ComponentUpgrade is the order for one component and the journal of its execution. It has the name
// of the component and is reused by each ClusterUpgrade, so that two upgrades cannot change a
// component at the same time.
//
// The controller writes the spec, refit-components the status.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=compup,categories=refit
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="a name may have at most 63 characters"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="From",type=string,JSONPath=`.status.from`
// +kubebuilder:printcolumn:name="To",type=string,JSONPath=`.spec.version`
// +kubebuilder:printcolumn:name="Permit",type=string,JSONPath=`.spec.permit`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Step",type=string,JSONPath=`.status.step`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.spec.orderTime`
// +kubebuilder:printcolumn:name="Error",type=string,JSONPath=`.status.error.message`,priority=1
// +kubebuilder:printcolumn:name="Operation",type=string,JSONPath=`.spec.operation.name`,priority=1
type ComponentUpgrade struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the order. The controller writes it.
	// +required
	Spec ComponentUpgradeSpec `json:"spec"`
	// status is the journal. refit-components writes it.
	// +optional
	Status ComponentUpgradeStatus `json:"status,omitzero"`
}

// ComponentUpgradeList is a list of ComponentUpgrades.
//
// +kubebuilder:object:root=true
type ComponentUpgradeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ComponentUpgrade `json:"items"`
}

// ComponentUpgradeSpec is an order. It names signed content, never a command.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf || self.sequence > oldSelf.sequence",message="every change of an order must raise its sequence"
// +kubebuilder:validation:XValidation:rule="self.epoch >= oldSelf.epoch",message="epoch cannot be lowered: the writer is no longer the leader"
// +kubebuilder:validation:XValidation:rule="!has(self.notAfter) || self.permit == 'Apply'",message="notAfter is only for the permit Apply"
type ComponentUpgradeSpec struct {
	// operation is the ClusterUpgrade that the order belongs to.
	// +required
	// +structType=atomic
	Operation Operation `json:"operation,omitzero"`
	// sequence must be raised with every change of the order.
	// +required
	// +kubebuilder:validation:Minimum=1
	Sequence int64 `json:"sequence,omitempty"`
	// epoch is the epoch of the ClusterUpgrade. It cannot be lowered, so that a former leader
	// cannot write orders.
	// +required
	// +kubebuilder:validation:Minimum=1
	Epoch int64 `json:"epoch,omitempty"`
	// attempt is the spec.retry of the ClusterUpgrade that this order belongs to.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Attempt int64 `json:"attempt,omitempty"`
	// release is the ClusterRelease that has the component.
	// +required
	// +structType=atomic
	Release ReleaseRef `json:"release,omitzero"`
	// version is the version of the component to install or to remove.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
	// action is Install, Upgrade or Remove.
	// +required
	// +kubebuilder:validation:Enum=Install;Upgrade;Remove
	Action ComponentAction `json:"action,omitempty"`
	// kubernetes is the version of Kubernetes that the chart is rendered for.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// digest is the digest of the offer that was approved. refit-components computes it again, and
	// fails with the reason PlanChanged if the result differs.
	// +required
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`
	// permit is what refit-components may do. Hold: nothing; a started step completes. Apply: the
	// action. Rollback: roll it back.
	// +required
	// +kubebuilder:validation:Enum=Hold;Apply;Rollback
	Permit Permit `json:"permit,omitempty"`
	// rollback is the operation's policy for a component that does not become healthy.
	// +optional
	// +kubebuilder:default=Auto
	Rollback Rollback `json:"rollback,omitempty"`
	// thaw lifts the freeze of the component at once. The controller sets it if a freeze lasts
	// longer than its limit and refit-components has not lifted it.
	// +optional
	Thaw bool `json:"thaw,omitempty"`
	// notAfter is when the change has to have started. Past it, refit-components starts nothing,
	// and waits for another order. Only orders in a MaintenanceWindow have it.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	NotAfter *metav1.Time `json:"notAfter,omitempty"`
	// orderTime is when the controller wrote the order.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	OrderTime *metav1.Time `json:"orderTime,omitempty"`
}

// ComponentUpgradeStatus is the journal of an order. A process that was killed continues from it.
type ComponentUpgradeStatus struct {
	// observedGeneration is the generation of the order that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// observedSequence is the sequence of the order that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedSequence int64 `json:"observedSequence,omitempty"`
	// journal is the sequence of the order whose steps are recorded. Orders of the same operation
	// that only change the permit continue it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Journal int64 `json:"journal,omitempty"`
	// order is what the recorded steps do. An order with another release, version or action is
	// refused until they have ended.
	// +optional
	// +structType=atomic
	Order *ComponentOrder `json:"order,omitempty"`
	// attempt is the attempt of the order that the journal has seen. A higher one clears a failure.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Attempt int64 `json:"attempt,omitempty"`
	// phase is the phase of the order. Idle: nothing to do. Applying: the component is changed.
	// Succeeded: it is verified. Failed: refit-components stopped, see error. RollingBack: it is
	// rolled back. RolledBack: it is at its previous version, verified.
	// +optional
	Phase ComponentPhase `json:"phase,omitempty"`
	// from is the version before the upgrade.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	From string `json:"from,omitempty"`
	// step is the current step.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`
	Step string `json:"step,omitempty"`
	// steps are the started and completed steps, in order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Steps []StepStatus `json:"steps,omitempty"`
	// rollingBack is set once a rollback has started. It is never unset.
	// +optional
	RollingBack bool `json:"rollingBack,omitempty"`
	// frozen is set from before a freeze is in force until after it is lifted.
	// +optional
	// +structType=atomic
	Frozen *FrozenStatus `json:"frozen,omitempty"`
	// saved is the name of the Secret with what a rollback needs.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Saved string `json:"saved,omitempty"`
	// left is what a rollback left unchanged, each with the reason, at most 4.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MaxLength=256
	Left []string `json:"left,omitempty"`
	// waiting is what the current step waits for.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Waiting string `json:"waiting,omitempty"`
	// startTime is when the first step started.
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
	// conditions are Accepted and Ready, which are always present, Reconciling and Stalled as
	// kstatus reads them.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.type.size() <= 32 && c.reason.size() <= 64 && c.message.size() <= 256 && c.lastTransitionTime > timestamp('2000-01-01T00:00:00Z'))",message="a condition's type may have at most 32 characters, its reason 64 and its message 256, and its time must be set"
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ComponentOrder is the part of an order that cannot change while its steps run.
type ComponentOrder struct {
	// operation is the ClusterUpgrade that started the steps.
	// +required
	// +structType=atomic
	Operation Operation `json:"operation,omitzero"`
	// epoch is the highest epoch of an order that was accepted.
	// +required
	// +kubebuilder:validation:Minimum=1
	Epoch int64 `json:"epoch,omitempty"`
	// release is the ClusterRelease that has the component.
	// +required
	// +structType=atomic
	Release ReleaseRef `json:"release,omitzero"`
	// version is the version of the component to install or to remove.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
	// action is Install, Upgrade or Remove.
	// +required
	// +kubebuilder:validation:Enum=Install;Upgrade;Remove
	Action ComponentAction `json:"action,omitempty"`
	// kubernetes is the version of Kubernetes that the chart is rendered for.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// digest is the digest of the offer that was approved.
	// +required
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`
}

// ComponentPhase is the phase of an order.
// +kubebuilder:validation:Enum=Idle;Applying;Succeeded;Failed;RollingBack;RolledBack
type ComponentPhase string

// The phases of an order.
const (
	ComponentIdle        ComponentPhase = "Idle"
	ComponentApplying    ComponentPhase = "Applying"
	ComponentSucceeded   ComponentPhase = "Succeeded" // verified
	ComponentFailed      ComponentPhase = "Failed"    // see error
	ComponentRollingBack ComponentPhase = "RollingBack"
	ComponentRolledBack  ComponentPhase = "RolledBack" // verified
)

// FrozenStatus is a freeze.
type FrozenStatus struct {
	// since is when the freeze began.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	Since metav1.Time `json:"since,omitzero"`
	// limit is how long it may last.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	Limit metav1.Duration `json:"limit,omitzero"`
	// lifted is set if it was lifted at its limit while a step was running.
	// +optional
	Lifted bool `json:"lifted,omitempty"`
}
