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
// +kubebuilder:printcolumn:name="Observed",type=date,JSONPath=`.status.observedTime`
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
	// ObservedTime is when the facts were gathered, by the host's clock.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	ObservedTime *metav1.Time `json:"observedTime,omitempty"`
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

	// Release is the ClusterRelease that missingArtifacts and missingImages speak of.
	// +optional
	// +structType=atomic
	Release *ReleaseRef `json:"release,omitempty"`
	// MissingArtifacts is how many of the ClusterRelease's files for this host are not here yet.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	MissingArtifacts *int32 `json:"missingArtifacts,omitempty"`
	// MissingImages are the ClusterRelease's images that the container runtime does not have.
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
