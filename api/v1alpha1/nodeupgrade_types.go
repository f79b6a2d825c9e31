package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// NodeUpgrade is the order for one node and reports its progress. It has the name of the node and
// is reused by each ClusterUpgrade, so that two upgrades cannot change a node at the same time.
//
// The controller writes the spec, status.drain and status.trial; the agent writes the rest of the
// status.
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

	// spec is the order. The controller writes it.
	// +required
	Spec NodeUpgradeSpec `json:"spec"`
	// status is the progress of the order. The agent writes it, except for drain and trial.
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
	MaxOrderFormat = 3 // format 2 adds the permit Backup, 3 adds notAfter
)

// NodeUpgradeSpec is an order. It never contains a command, a path or a script.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf || self.sequence > oldSelf.sequence",message="every change of an order must raise its sequence"
// +kubebuilder:validation:XValidation:rule="self.epoch >= oldSelf.epoch",message="epoch cannot be lowered: the writer is no longer the leader"
// +kubebuilder:validation:XValidation:rule="(self.permit == 'Backup') == has(self.backup)",message="backup must be set with the permit Backup, and only with it"
// +kubebuilder:validation:XValidation:rule="!has(self.notAfter) || self.permit == 'Apply' && self.format >= 3",message="notAfter is only for the permit Apply, since format 3"
// +kubebuilder:validation:XValidation:rule="self.permit in ['Backup', 'Hold'] || has(self.operation) && has(self.release)",message="operation and release are required, except with the permits Backup and Hold"
type NodeUpgradeSpec struct {
	// format is the format of the order. An agent rejects a format that it does not support.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Format int32 `json:"format,omitempty"`
	// operation is the ClusterUpgrade that the order belongs to. A node that no ClusterUpgrade has
	// ordered anything has none.
	// +optional
	// +structType=atomic
	Operation Operation `json:"operation,omitzero"`
	// nodeUID is the UID of the Node. A node that joins again under the same name has another UID.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=36
	NodeUID types.UID `json:"nodeUID,omitempty"`
	// machineID is the machine ID of the host (/etc/machine-id).
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{32}$`
	MachineID string `json:"machineID,omitempty"`
	// sequence must be raised with every change of the order. An agent rejects a sequence lower
	// than the highest that it has accepted, also after a restore of etcd.
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
	// role is the role of the node. FirstControlPlane: the control plane node that runs the
	// cluster-wide phases of kubeadm. ControlPlane: any other control plane node. Worker: a worker.
	// +required
	Role Role `json:"role,omitempty"`
	// release is the ClusterRelease to install. It is absent if operation is.
	// +optional
	// +structType=atomic
	Release ReleaseRef `json:"release,omitzero"`
	// permit is what the agent may do. Hold: nothing; a started step completes. Prefetch: download
	// and verify files and images. Backup: back up etcd, and nothing else. Apply: upgrade the node.
	// Rollback: roll the node back.
	// +required
	Permit Permit `json:"permit,omitempty"`
	// rollback is the operation's policy for a node that does not become healthy.
	// +optional
	// +kubebuilder:default=Auto
	Rollback Rollback `json:"rollback,omitempty"`
	// keepAddons skips the upgrade of CoreDNS and kube-proxy in an intermediate hop, because nodes
	// that are not part of it do not have the images.
	// +optional
	KeepAddons bool `json:"keepAddons,omitempty"`
	// backup is the attempt of an EtcdBackup that the permit Backup is for.
	// +optional
	// +structType=atomic
	Backup BackupRef `json:"backup,omitzero"`
	// notAfter is when the change has to have started. Past it, the agent starts nothing that
	// disrupts, and waits for another order. Only orders in a MaintenanceWindow have it.
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

// Role is the role of a node.
// +kubebuilder:validation:Enum=FirstControlPlane;ControlPlane;Worker
type Role string

// The roles.
const (
	RoleFirstControlPlane Role = "FirstControlPlane" // runs the cluster-wide phases of kubeadm
	RoleControlPlane      Role = "ControlPlane"
	RoleWorker            Role = "Worker"
)

// Permit is what an agent may do.
// +kubebuilder:validation:Enum=Hold;Prefetch;Backup;Apply;Rollback
type Permit string

// The permits.
const (
	PermitHold     Permit = "Hold"     // nothing; a started step completes
	PermitPrefetch Permit = "Prefetch" // download and verify
	PermitBackup   Permit = "Backup"   // back up etcd, and nothing else
	PermitApply    Permit = "Apply"    // upgrade the node
	PermitRollback Permit = "Rollback" // roll the node back
)
