package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// NodeReport contains the facts about a host that its agent reports. It has the name of the node.
//
// The agent updates it when it starts, when the controller requests it, and when a discrete fact
// changes.
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

	// spec is the request of the controller.
	// +optional
	Spec NodeReportSpec `json:"spec,omitzero"`
	// status contains the facts. The agent writes it.
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

// NodeReportSpec is the request of the controller.
type NodeReportSpec struct {
	// request is increased by the controller to request an update; status.answered repeats it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Request int64 `json:"request,omitempty"`
}

// NodeReportStatus contains the facts about a host.
type NodeReportStatus struct {
	// answered is the last spec.request that the agent has answered.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Answered int64 `json:"answered,omitempty"`
	// observedTime is when the facts were gathered, by the clock of the host.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	ObservedTime *metav1.Time `json:"observedTime,omitempty"`
	// agentVersion is the version of the agent.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	AgentVersion string `json:"agentVersion,omitempty"`
	// orderFormat is the newest order format that the agent supports.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	OrderFormat int32 `json:"orderFormat,omitempty"`
	// payloadVersion is the newest version of the payload of ClusterReleases that the agent reads.
	// Agents that do not report it read version 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	PayloadVersion int32 `json:"payloadVersion,omitempty"`
	// nodeUID is the UID of the Node.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=36
	NodeUID types.UID `json:"nodeUID,omitempty"`
	// machineID is the host's /etc/machine-id.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{32}$`
	MachineID string `json:"machineID,omitempty"`
	// bootID is the boot ID of the host, which changes with each boot.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	BootID string `json:"bootID,omitempty"`
	// acceptedSequence is the highest sequence of an order that the agent has accepted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	AcceptedSequence int64 `json:"acceptedSequence,omitempty"`
	// acceptedEpoch is the highest epoch of an order that the agent has accepted. A new leader
	// starts above it, also after a restore of etcd.
	// +optional
	// +kubebuilder:validation:Minimum=0
	AcceptedEpoch int64 `json:"acceptedEpoch,omitempty"`
	// truncated lists the fields of this report that are incomplete because they reached their
	// maximum length.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	// +kubebuilder:validation:items:MaxLength=40
	Truncated []string `json:"truncated,omitempty"`
	// releaseKeys are the fingerprints of the public keys on the host. The agent installs only
	// ClusterReleases that one of them has signed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=80
	ReleaseKeys []string `json:"releaseKeys,omitempty"`

	// os is the operating system's name and version.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	OS string `json:"os,omitempty"`
	// arch is the architecture of the host, as in GOARCH.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Arch string `json:"arch,omitempty"`
	// kernel is the running kernel.
	// +optional
	// +kubebuilder:validation:MaxLength=96
	Kernel string `json:"kernel,omitempty"`
	// packageKind is how Kubernetes is installed: Binary (plain files), Deb (Debian packages) or
	// Rpm (RPM packages).
	// +optional
	PackageKind PackageKind `json:"packageKind,omitempty"`
	// parts are the parts of the host that are not installed as packageKind and the usual packages
	// suggest.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Parts []PartFacts `json:"parts,omitempty"`
	// heldPackages are packages on hold.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	HeldPackages []string `json:"heldPackages,omitempty"`
	// cgroupVersion is 1 or 2.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2
	CgroupVersion int32 `json:"cgroupVersion,omitempty"`
	// swapOn is true if swap is enabled.
	// +optional
	SwapOn *bool `json:"swapOn,omitempty"`
	// hostname is the hostname, which kubeadm compares with the node name.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Hostname string `json:"hostname,omitempty"`
	// readOnlyPaths are read-only directories that an upgrade must write to.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=128
	ReadOnlyPaths []string `json:"readOnlyPaths,omitempty"`
	// clockOffsetMilliseconds is how far the host's clock is ahead of the API server's.
	// +optional
	ClockOffsetMilliseconds *int64 `json:"clockOffsetMilliseconds,omitempty"`
	// addresses are the addresses on the host's interfaces.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=45
	Addresses []string `json:"addresses,omitempty"`
	// virtualIPs are the addresses that software on this host moves between hosts, according to its
	// configuration. The host that holds an address has it in addresses.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	VirtualIPs []VirtualIPFacts `json:"virtualIPs,omitempty"`
	// endpointReachable is true if the API endpoint of the cluster answers this host and is ready.
	// +optional
	EndpointReachable *bool `json:"endpointReachable,omitempty"`

	// versions are the installed and running versions.
	// +optional
	// +structType=atomic
	Versions HostVersions `json:"versions,omitzero"`
	// kubelet is how the kubelet is started and configured.
	// +optional
	// +structType=atomic
	Kubelet *KubeletFacts `json:"kubelet,omitempty"`
	// serviceWrappers are the services of the kubelet and containerd that start another file than
	// the binary itself, such as a script. Refit does not replace such a file.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	ServiceWrappers []ServiceWrapper `json:"serviceWrappers,omitempty"`
	// disks are the file systems that an upgrade needs disk space on.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Disks []DiskFacts `json:"disks,omitempty"`
	// certificates are the certificates on the host.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	Certificates []CertificateFacts `json:"certificates,omitempty"`
	// drift is where the host differs from what kubeadm renders for it.
	// +optional
	// +structType=atomic
	Drift *DriftFacts `json:"drift,omitempty"`

	// release is the ClusterRelease that missingArtifacts and missingImages refer to.
	// +optional
	// +structType=atomic
	Release *ReleaseRef `json:"release,omitempty"`
	// missingArtifacts is the number of files of the ClusterRelease that this host has not
	// downloaded.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	MissingArtifacts *int32 `json:"missingArtifacts,omitempty"`
	// missingImages are the ClusterRelease's images that the container runtime does not have.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=255
	MissingImages []string `json:"missingImages,omitempty"`

	// cri describes the container runtime.
	// +optional
	// +structType=atomic
	CRI *CRIFacts `json:"cri,omitempty"`
	// etcd is the etcd member on this host, queried directly.
	// +optional
	// +structType=atomic
	Etcd *EtcdFacts `json:"etcd,omitempty"`
	// externalEtcd is the external etcd of the cluster, which a control plane node queries with the
	// client certificate of its API server.
	// +optional
	// +structType=atomic
	ExternalEtcd *ExternalEtcdFacts `json:"externalEtcd,omitempty"`
	// apiServer is the API server on this host, queried directly.
	// +optional
	// +structType=atomic
	APIServer *APIServerFacts `json:"apiServer,omitempty"`
}

// Observed returns observedTime by the clock of the API server, or zero if it is not known.
func (s *NodeReportStatus) Observed() time.Time {
	switch {
	case s.ObservedTime == nil:
		return time.Time{}
	case s.ClockOffsetMilliseconds == nil:
		return s.ObservedTime.UTC()
	}
	return s.ObservedTime.Add(-time.Duration(*s.ClockOffsetMilliseconds) * time.Millisecond).UTC()
}
