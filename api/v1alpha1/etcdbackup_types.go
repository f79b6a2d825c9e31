package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// EtcdBackup is one backup of etcd, with the host files that a restore needs. The agent of a
// control plane node takes it, encrypts it and stores it. The spec is immutable.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=eb,categories=refit
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="a name may have at most 63 characters"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Store",type=string,JSONPath=`.spec.store`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.status.node`
// +kubebuilder:printcolumn:name="Attempt",type=integer,JSONPath=`.status.attempt`
// +kubebuilder:printcolumn:name="Revision",type=integer,JSONPath=`.status.revision`
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.status.size`
// +kubebuilder:printcolumn:name="Verified",type=date,JSONPath=`.status.readBack`
// +kubebuilder:printcolumn:name="Drilled",type=date,JSONPath=`.status.drilled`
// +kubebuilder:printcolumn:name="Deleted",type=date,JSONPath=`.status.deleted`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Object",type=string,JSONPath=`.status.object`,priority=1
// +kubebuilder:printcolumn:name="Error",type=string,JSONPath=`.status.error.message`,priority=1
type EtcdBackup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the request. It is immutable.
	// +required
	Spec EtcdBackupSpec `json:"spec"`
	// status is the result. The controller writes it.
	// +optional
	Status EtcdBackupStatus `json:"status,omitzero"`
}

// EtcdBackupList is a list of EtcdBackups.
//
// +kubebuilder:object:root=true
type EtcdBackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EtcdBackup `json:"items"`
}

// EtcdBackupSpec requests a backup.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="an EtcdBackup is immutable: create another one"
// +kubebuilder:validation:XValidation:rule="(has(self.drill) && self.drill == 'Rehearse') == (has(self.hops) && self.hops.size() > 0)",message="hops must be set with the drill Rehearse, and only with it"
type EtcdBackupSpec struct {
	// store is the name of the BackupStore.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Store string `json:"store,omitempty"`
	// operation is the name of the ClusterUpgrade that relies on this backup.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Operation string `json:"operation,omitempty"`
	// drill is how the backup is tried on the host that takes it. None: not at all. Restore: it is
	// restored into a scratch etcd and compared with what was read. Rehearse: then each of hops
	// also runs on the restored data.
	// +optional
	// +kubebuilder:default=Restore
	Drill Drill `json:"drill,omitempty"`
	// hops are the ClusterReleases to rehearse, in the order of the upgrade.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	Hops []ReleaseRef `json:"hops,omitempty"`
}

// Drill is how a backup is tried.
// +kubebuilder:validation:Enum=None;Restore;Rehearse
type Drill string

// The drills.
const (
	DrillNone     Drill = "None"
	DrillRestore  Drill = "Restore"
	DrillRehearse Drill = "Rehearse"
)

// EtcdBackupStatus is the result of a backup.
type EtcdBackupStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// node is the node whose agent takes the backup.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`
	// attempt is the number of the attempt, from 1. An attempt that fails is never continued: the
	// next one starts over, on another control plane node if there is one.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Attempt int64 `json:"attempt,omitempty"`
	// startTime is when the attempt was given to the node.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	StartTime *metav1.Time `json:"startTime,omitempty"`

	BackupResult `json:",inline"`

	// object is the key of the backup's manifest in the store.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Object string `json:"object,omitempty"`
	// location is the bucket or the directory that has the backup. It identifies the store of the
	// backup after its BackupStore was renamed.
	// +optional
	// +kubebuilder:validation:MaxLength=384
	Location string `json:"location,omitempty"`
	// deleted is when retention deleted the backup from its store. It is written before the objects
	// are deleted.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	Deleted *metav1.Time `json:"deleted,omitempty"`
	// error is why the last attempt failed.
	// +optional
	// +structType=atomic
	Error *BackupError `json:"error,omitempty"`
	// conditions are Ready, Reconciling and Stalled as kstatus reads them. Ready is True when the
	// backup is stored, was read back and has passed its drill, and False with the reason
	// BackupDeleted after retention has deleted it. Stalled is True when it failed, or waits for
	// something that requires manual intervention.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.type.size() <= 32 && c.reason.size() <= 64 && c.message.size() <= 512 && c.lastTransitionTime > timestamp('2000-01-01T00:00:00Z'))",message="a condition's type may have at most 32 characters, its reason 64 and its message 512, and its time must be set"
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// HasEnded reports whether the backup succeeded, or its last attempt failed.
func (b *EtcdBackup) HasEnded() bool { return b.Status.HasEnded() }

// HasEnded reports whether the backup succeeded, or its last attempt failed.
func (s *EtcdBackupStatus) HasEnded() bool {
	return s.StartTime == nil && (s.ReadBack != nil || s.Attempt >= MaxBackupAttempts)
}

// IdleSince is since when a backup without an attempt in progress waits for the next one.
func (s *EtcdBackupStatus) IdleSince(created time.Time) time.Time {
	if s.Error != nil && s.Error.At.After(created) {
		return s.Error.At.Time
	}
	return created
}

// BackupResult is what is known about a stored backup.
type BackupResult struct {
	// revision is the revision of etcd that the backup contains.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Revision int64 `json:"revision,omitempty"`
	// keys is the number of entries in the backup's key-value store, old revisions included.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Keys int64 `json:"keys,omitempty"`
	// hash is the hash of the snapshot, as `etcdutl snapshot status` prints it.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9a-f]+$`
	Hash string `json:"hash,omitempty"`
	// size is the size of the snapshot in bytes, before compression.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Size int64 `json:"size,omitempty"`
	// digest is the SHA-256 digest of the backup's manifest, which has the digests of all other
	// objects.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest,omitempty"`
	// uploaded is when the manifest, which is the last object, was written.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	Uploaded *metav1.Time `json:"uploaded,omitempty"`
	// readBack is when every object had been read from the store again and had its digest.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	ReadBack *metav1.Time `json:"readBack,omitempty"`
	// drilled is when the backup had been decrypted, restored into a scratch etcd and compared:
	// its revision, keys and hash are those of this result.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	Drilled *metav1.Time `json:"drilled,omitempty"`
	// rehearsed are the hops that ran on the restored data, in order. The rehearsal ends with the
	// first hop that has a problem.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:XValidation:rule="self.map(h, has(h.findings) ? h.findings.size() : 0).sum() <= 16",message="all hops together may list at most 16 findings"
	Rehearsed []RehearsedHop `json:"rehearsed,omitempty"`
}

// RehearsedHop is the result of one hop on the restored data.
type RehearsedHop struct {
	// release is the ClusterRelease that ran.
	// +required
	// +structType=atomic
	Release ReleaseRef `json:"release,omitzero"`
	// kubernetes is its version.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`
	Kubernetes string `json:"kubernetes,omitempty"`
	// at is when the hop ended.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	At metav1.Time `json:"at,omitzero"`
	// seconds is how long it took.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Seconds int64 `json:"seconds,omitempty"`
	// resources is the number of resources that were listed.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Resources int64 `json:"resources,omitempty"`
	// objects is the number of objects in them.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Objects int64 `json:"objects,omitempty"`
	// withoutWatchCache is true if the host lacked the memory for the watch cache of the API
	// server.
	// +optional
	WithoutWatchCache bool `json:"withoutWatchCache,omitempty"`
	// findings are the problems, at most 16 of all hops together. Those that are not unknown come
	// first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Findings []RehearsalFinding `json:"findings,omitempty"`
	// moreFindings is the number of findings beyond those.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MoreFindings int64 `json:"moreFindings,omitempty"`
	// moreUnknown is how many of moreFindings are unknown.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MoreUnknown int64 `json:"moreUnknown,omitempty"`
}

// RehearsalFinding is one problem of a hop.
type RehearsalFinding struct {
	// reason is the problem in one CamelCase word.
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
	Reason string `json:"reason,omitempty"`
	// object is what the problem is about: a flag, a file, a resource or an object.
	// +optional
	// +kubebuilder:validation:MaxLength=384
	Object string `json:"object,omitempty"`
	// message describes the problem.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// remedy is how to fix it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Remedy string `json:"remedy,omitempty"`
	// unknown is true if the rehearsal could not decide: this is no proof that the hop would fail.
	// +optional
	Unknown bool `json:"unknown,omitempty"`
}

// BackupRef references one attempt of an EtcdBackup.
type BackupRef struct {
	// name is the name of the EtcdBackup.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`
	// uid is the UID of the EtcdBackup, which is part of the keys of its objects.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=36
	// +kubebuilder:validation:Pattern=`^[0-9a-zA-Z-]{1,36}$`
	UID types.UID `json:"uid,omitempty"`
	// attempt is the number of the attempt, from 1.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Attempt int64 `json:"attempt,omitempty"`
	// store is the name of the BackupStore.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Store string `json:"store,omitempty"`
}

// NodeBackupStatus is the progress of a backup that the agent takes.
type NodeBackupStatus struct {
	// uid is the UID of the EtcdBackup.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=36
	// +kubebuilder:validation:Pattern=`^[0-9a-zA-Z-]{1,36}$`
	UID types.UID `json:"uid,omitempty"`
	// attempt is the number of the attempt.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Attempt int64 `json:"attempt,omitempty"`
	// phase is the phase of the attempt: Running, Succeeded or Failed.
	// +required
	Phase BackupPhase `json:"phase,omitempty"`
	// step is the current step.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`
	Step string `json:"step,omitempty"`
	// message is what the step waits for, and for how long at most.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message      string `json:"message,omitempty"`
	BackupResult `json:",inline"`

	// error is why the attempt failed.
	// +optional
	// +structType=atomic
	Error *BackupError `json:"error,omitempty"`
}

// BackupError is why an attempt failed.
type BackupError struct {
	// class is the class of the failure. Transient: Refit retries. ManualInterventionRequired: fix
	// the cause, then create another EtcdBackup. HostBroken: repair the host.
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
	// at is when the failure occurred.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	At metav1.Time `json:"at,omitzero"`
}

// IsOf reports whether the status is about an attempt.
func (s *NodeBackupStatus) IsOf(ref BackupRef) bool {
	return s != nil && s.UID == ref.UID && s.Attempt == ref.Attempt
}

// BackupPhase is the phase of an attempt.
// +kubebuilder:validation:Enum=Running;Succeeded;Failed
type BackupPhase string

// The phases of an attempt.
const (
	BackupRunning   BackupPhase = "Running"
	BackupSucceeded BackupPhase = "Succeeded" // stored, read back, and restored if a drill was requested
	BackupFailed    BackupPhase = "Failed"    // see error
)

// Ended reports whether the attempt has ended.
func (s *NodeBackupStatus) Ended() bool {
	return s != nil && (s.Phase == BackupSucceeded || s.Phase == BackupFailed)
}
