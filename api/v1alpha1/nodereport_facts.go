package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	// NeededMiB is the room that the ClusterRelease needs there.
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
