package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// NodeReport is what a host is, told by its agent: facts, no verdicts. It is named like the node.
//
// It is written when the agent starts, when the controller asks, and when a discrete fact changes; never because a gauge moved.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=nr;nrep,categories=refit
// +kubebuilder:printcolumn:name="Kubelet",type=string,JSONPath=`.status.versions.kubelet`
// +kubebuilder:printcolumn:name="Containerd",type=string,JSONPath=`.status.versions.containerd`
// +kubebuilder:printcolumn:name="Packages",type=string,JSONPath=`.status.packageKind`
// +kubebuilder:printcolumn:name="Etcd",type=string,JSONPath=`.status.etcd.version`
// +kubebuilder:printcolumn:name="Missing",type=integer,JSONPath=`.status.missingArtifacts`
// +kubebuilder:printcolumn:name="Observed",type=date,JSONPath=`.status.observedAt`
// +kubebuilder:printcolumn:name="Agent",type=string,JSONPath=`.status.agentVersion`,priority=1
type NodeReport struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the controller's question.
	// +optional
	Spec NodeReportSpec `json:"spec,omitzero"`
	// Status is the agent's answer: the facts.
	// +optional
	Status NodeReportStatus `json:"status,omitzero"`
}

// NodeReportList is a list of NodeReports.
//
// +kubebuilder:object:root=true
type NodeReportList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeReport `json:"items"`
}

// NodeReportSpec is the controller's question.
type NodeReportSpec struct {
	// Request is raised by the controller when it wants the facts anew; status.answered repeats it in the answer.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Request int64 `json:"request,omitempty"`
}

// NodeReportStatus is the facts.
type NodeReportStatus struct {
	// Answered is the request that these facts answer.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Answered int64 `json:"answered,omitempty"`
	// ObservedAt is when the facts were gathered, by the host's clock.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	ObservedAt *metav1.Time `json:"observedAt,omitempty"`
	// AgentVersion is the version of the agent.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	AgentVersion string `json:"agentVersion,omitempty"`
	// OrderFormat is the newest format of orders that the agent understands.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	OrderFormat int32 `json:"orderFormat,omitempty"`
	// NodeUID is the UID of the Node as the agent knows it.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=36
	NodeUID types.UID `json:"nodeUID,omitempty"`
	// MachineID is the host's /etc/machine-id.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{32}$`
	MachineID string `json:"machineID,omitempty"`
	// BootID tells one boot of the host from another.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	BootID string `json:"bootID,omitempty"`
	// AcceptedSequence is the highest order that the agent has ever accepted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	AcceptedSequence int64 `json:"acceptedSequence,omitempty"`
	// Truncated names the lists of this report that hold less than the host has, because they were full. What they say is incomplete.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=40
	Truncated []string `json:"truncated,omitempty"`
	// ReleaseKeys are the fingerprints of the keys that are pinned on the host; only Releases signed by one of them are installed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=80
	ReleaseKeys []string `json:"releaseKeys,omitempty"`

	// OS is the operating system's name and version.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	OS string `json:"os,omitempty"`
	// Arch is the machine's architecture, as Go names it.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Arch string `json:"arch,omitempty"`
	// Kernel is the running kernel.
	// +optional
	// +kubebuilder:validation:MaxLength=96
	Kernel string `json:"kernel,omitempty"`
	// PackageKind is how Kubernetes got onto the host.
	// +optional
	PackageKind PackageKind `json:"packageKind,omitempty"`
	// HeldPackages are packages that the package manager was told to hold.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	HeldPackages []string `json:"heldPackages,omitempty"`
	// CgroupVersion is 1 or 2.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2
	CgroupVersion int32 `json:"cgroupVersion,omitempty"`
	// SwapOn says whether swap is in use.
	// +optional
	SwapOn *bool `json:"swapOn,omitempty"`
	// Hostname is the host's own name, which kubeadm compares with the node's.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Hostname string `json:"hostname,omitempty"`
	// ReadOnlyPaths are directories that Refit must write to and cannot.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=128
	ReadOnlyPaths []string `json:"readOnlyPaths,omitempty"`
	// ClockOffsetMilliseconds is how far the host's clock is ahead of the API server's.
	// +optional
	ClockOffsetMilliseconds *int64 `json:"clockOffsetMilliseconds,omitempty"`
	// Addresses are the addresses on the host's interfaces.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=45
	Addresses []string `json:"addresses,omitempty"`
	// EndpointReachable says whether the cluster's API endpoint answers from this host.
	// +optional
	EndpointReachable *bool `json:"endpointReachable,omitempty"`

	// Versions are the versions that run or lie on the host's disk.
	// +optional
	// +structType=atomic
	Versions HostVersions `json:"versions,omitzero"`
	// Kubelet is how the kubelet is started and configured.
	// +optional
	// +structType=atomic
	Kubelet *KubeletFacts `json:"kubelet,omitempty"`
	// Disks are the file systems that the upgrade needs room on.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Disks []DiskFacts `json:"disks,omitempty"`
	// Certificates are the certificates on the host.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	Certificates []CertificateFacts `json:"certificates,omitempty"`
	// Drift is where the host differs from what kubeadm renders for it.
	// +optional
	// +structType=atomic
	Drift *DriftFacts `json:"drift,omitempty"`

	// Release is the Release that missingArtifacts and missingImages speak of.
	// +optional
	// +structType=atomic
	Release *ReleaseRef `json:"release,omitempty"`
	// MissingArtifacts is how many of the Release's files for this host are not here yet.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	MissingArtifacts *int32 `json:"missingArtifacts,omitempty"`
	// MissingImages are the Release's images that the container runtime does not have.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=255
	MissingImages []string `json:"missingImages,omitempty"`

	// CRI is what the container runtime says of itself.
	// +optional
	// +structType=atomic
	CRI *CRIFacts `json:"cri,omitempty"`
	// Etcd is this node's etcd member, asked directly.
	// +optional
	// +structType=atomic
	Etcd *EtcdFacts `json:"etcd,omitempty"`
	// APIServer is this node's API server, asked directly.
	// +optional
	// +structType=atomic
	APIServer *APIServerFacts `json:"apiServer,omitempty"`
}

// PackageKind is how Kubernetes got onto a host.
// +kubebuilder:validation:Enum=Binary;Deb;Rpm
type PackageKind string

// The kinds of packages.
const (
	PackageBinary PackageKind = "Binary"
	PackageDeb    PackageKind = "Deb"
	PackageRpm    PackageKind = "Rpm"
)

// HostVersions are versions on a host.
type HostVersions struct {
	// Kubelet is the version of the running kubelet.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Kubelet string `json:"kubelet,omitempty"`
	// KubeletOnDisk is the version of the kubelet's file, which differs when it was replaced and not restarted.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	KubeletOnDisk string `json:"kubeletOnDisk,omitempty"`
	// Kubeadm is the version of kubeadm on disk.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Kubeadm string `json:"kubeadm,omitempty"`
	// Containerd is the version of the running containerd.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Containerd string `json:"containerd,omitempty"`
	// Runc is the version of runc.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Runc string `json:"runc,omitempty"`
	// CNIPlugins is the version of the CNI plugins.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	CNIPlugins string `json:"cniPlugins,omitempty"`
}

// KubeletFacts is how a kubelet is started and configured.
type KubeletFacts struct {
	// Flags are the names of the flags that it is started with, without values, from every place that gives it some.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	Flags []string `json:"flags,omitempty"`
	// FeatureGates are the gates that are set, by flag or in its configuration.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.size() <= 64)",message="a feature gate's name may have at most 64 characters"
	// +mapType=atomic
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// ConfigFields are the fields that are set in its configuration.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=96
	// +kubebuilder:validation:items:MaxLength=64
	ConfigFields []string `json:"configFields,omitempty"`
	// FailCgroupV1 is the setting of that name.
	// +optional
	FailCgroupV1 *bool `json:"failCgroupV1,omitempty"`
}

// DiskFacts is the room on one file system, rounded so that it does not change with every write.
type DiskFacts struct {
	// Path is a directory that the upgrade writes to.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Path string `json:"path,omitempty"`
	// FreeMiB is the free room.
	// +required
	// +kubebuilder:validation:Minimum=0
	FreeMiB int64 `json:"freeMiB"`
	// NeededMiB is the room that the Release needs there.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NeededMiB int64 `json:"neededMiB,omitempty"`
	// FreeInodesPercent is the share of inodes that are free.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	FreeInodesPercent *int32 `json:"freeInodesPercent,omitempty"`
}

// CertificateFacts is one certificate.
type CertificateFacts struct {
	// Name is the certificate's name as kubeadm prints it (apiserver, etcd-server, ca, …).
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
	// NotAfter is when it expires.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	NotAfter metav1.Time `json:"notAfter,omitzero"`
	// ExternalCA says that its CA's key is not on the host, so it cannot be renewed here.
	// +optional
	ExternalCA bool `json:"externalCA,omitempty"`
}

// DriftFacts is where a host differs from what kubeadm renders for it.
type DriftFacts struct {
	// Known is false when there was nothing to compare with.
	// +required
	Known bool `json:"known"`
	// Differences are the differences, one sentence each.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=160
	Differences []string `json:"differences,omitempty"`
	// MissingManifests are static pod manifests that should be there and are not.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=64
	MissingManifests []string `json:"missingManifests,omitempty"`
	// UnparsableManifests are files in the manifests directory that cannot be read as a pod.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=64
	UnparsableManifests []string `json:"unparsableManifests,omitempty"`
	// APIReferences are static pods that refer to Secrets, ConfigMaps or ServiceAccounts.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=128
	APIReferences []string `json:"apiReferences,omitempty"`
}

// CRIFacts is what a container runtime says of itself.
type CRIFacts struct {
	// Runtime is the name and version of the runtime.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Runtime string `json:"runtime,omitempty"`
	// RuntimeConfig says whether it answers the CRI method of that name.
	// +optional
	RuntimeConfig *bool `json:"runtimeConfig,omitempty"`
}

// EtcdFacts is one etcd member, and the cluster as it sees it.
type EtcdFacts struct {
	// Name is the member's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// ID is the member's id, in hexadecimal.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{1,16}$`
	ID string `json:"id,omitempty"`
	// Version is the member's version.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
	// Healthy says whether it answered a read that needs the quorum.
	// +optional
	Healthy bool `json:"healthy,omitempty"`
	// Leader says whether it leads.
	// +optional
	Leader bool `json:"leader,omitempty"`
	// Learner says whether it is a learner.
	// +optional
	Learner bool `json:"learner,omitempty"`
	// Members are the names of all members as this one knows them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	Members []string `json:"members,omitempty"`
	// Alarms are the alarms that are raised.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MaxLength=32
	Alarms []string `json:"alarms,omitempty"`
	// DBSizeMiB is the size of the database.
	// +optional
	// +kubebuilder:validation:Minimum=0
	DBSizeMiB int64 `json:"dbSizeMiB,omitempty"`
	// QuotaMiB is the size that it may reach.
	// +optional
	// +kubebuilder:validation:Minimum=0
	QuotaMiB int64 `json:"quotaMiB,omitempty"`
}

// APIServerFacts is one API server.
type APIServerFacts struct {
	// Version is the version that it reports on its own port.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
	// Ready says whether its /readyz is well.
	// +optional
	Ready bool `json:"ready,omitempty"`
}
