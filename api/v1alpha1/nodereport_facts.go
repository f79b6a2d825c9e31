package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PartFacts is how a part of the host is installed.
type PartFacts struct {
	// part is the part: kubeadm, kubelet, kubectl, containerd, runc or cni.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	Part Part `json:"part,omitempty"`
	// kind is how the part is installed: Binary (plain files), Deb (Debian packages) or Rpm (RPM
	// packages).
	// +optional
	Kind PackageKind `json:"kind,omitempty"`
	// package is the name of the package that the part is installed from.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Package string `json:"package,omitempty"`
	// files are the names of the CNI plugins that are installed as plain files. An upgrade replaces
	// these and adds no others. If it is empty, the host gets all that the ClusterRelease has.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	// +kubebuilder:validation:items:MaxLength=32
	Files []string `json:"files,omitempty"`
	// absent is true if the part is not installed, or belongs to the package of another part.
	// +optional
	Absent bool `json:"absent,omitempty"`
}

// PackageKind is how Kubernetes is installed on a host.
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
	// kubelet is the version of the running kubelet.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Kubelet string `json:"kubelet,omitempty"`
	// kubeletOnDisk is the version of the kubelet binary, which differs if the kubelet was not
	// restarted since.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	KubeletOnDisk string `json:"kubeletOnDisk,omitempty"`
	// kubeadm is the version of kubeadm on disk.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Kubeadm string `json:"kubeadm,omitempty"`
	// containerd is the version of the running containerd.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Containerd string `json:"containerd,omitempty"`
	// runc is the version of runc.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Runc string `json:"runc,omitempty"`
	// cniPlugins is the version of the CNI plugins.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	CNIPlugins string `json:"cniPlugins,omitempty"`
}

// KubeletFacts is how a kubelet is started and configured.
type KubeletFacts struct {
	// flags are the names of the kubelet's flags, without values.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	Flags []string `json:"flags,omitempty"`
	// featureGates are the gates that are set, by flag or in its configuration.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.size() <= 64)",message="a feature gate's name may have at most 64 characters"
	// +mapType=atomic
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// configFields are the fields that are set in its configuration.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=96
	// +kubebuilder:validation:items:MaxLength=64
	ConfigFields []string `json:"configFields,omitempty"`
	// configFile is the file of its flag --config.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	ConfigFile string `json:"configFile,omitempty"`
	// failCgroupV1 is the setting of that name.
	// +optional
	FailCgroupV1 *bool `json:"failCgroupV1,omitempty"`
}

// ServiceWrapper is a service that starts another file than the binary itself.
type ServiceWrapper struct {
	// binary is the name of the binary that the service should start: kubelet or containerd.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Binary string `json:"binary,omitempty"`
	// path is the file that the service starts.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Path string `json:"path,omitempty"`
}

// VirtualIPFacts is an address that software on a host moves between hosts.
type VirtualIPFacts struct {
	// address is the address, or the name that the software resolves.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Address string `json:"address,omitempty"`
	// software is the software that moves the address: Keepalived or KubeVIP (kube-vip in a static
	// pod).
	// +required
	Software VirtualIPSoftware `json:"software,omitempty"`
	// healthCheck is true if the software checks something before this host holds the address, such
	// as its API server.
	// +optional
	HealthCheck *bool `json:"healthCheck,omitempty"`
	// shared is true if all hosts hold the address at the same time, as they do with BGP.
	// +optional
	Shared bool `json:"shared,omitempty"`
}

// VirtualIPSoftware is software that moves an address between hosts.
// +kubebuilder:validation:Enum=Keepalived;KubeVIP
type VirtualIPSoftware string

// The software that moves addresses.
const (
	Keepalived VirtualIPSoftware = "Keepalived"
	KubeVIP    VirtualIPSoftware = "KubeVIP"
)

// String returns the name as the software spells it.
func (s VirtualIPSoftware) String() string {
	switch s {
	case Keepalived:
		return "keepalived"
	case KubeVIP:
		return "kube-vip"
	}
	return string(s)
}

// DiskFacts is the disk space of a file system, rounded so that it does not change with every
// write.
type DiskFacts struct {
	// path is a directory that the upgrade writes to.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Path string `json:"path,omitempty"`
	// freeMiB is the free disk space.
	// +required
	// +kubebuilder:validation:Minimum=0
	FreeMiB int64 `json:"freeMiB"`
	// neededMiB is the disk space that the ClusterRelease needs.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NeededMiB int64 `json:"neededMiB,omitempty"`
	// freeInodesPercent is the share of inodes that are free.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	FreeInodesPercent *int32 `json:"freeInodesPercent,omitempty"`
}

// CertificateFacts is one certificate.
type CertificateFacts struct {
	// name is the certificate's name as kubeadm prints it (apiserver, etcd-server, ca, …).
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
	// notAfter is when it expires.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	NotAfter metav1.Time `json:"notAfter,omitzero"`
	// externalCA is true if the key of the CA is not on the host, so that the certificate cannot be
	// renewed there.
	// +optional
	ExternalCA bool `json:"externalCA,omitempty"`
}

// DriftFacts is where a host differs from what kubeadm renders for it.
type DriftFacts struct {
	// known is false when there was nothing to compare with.
	// +required
	Known bool `json:"known"`
	// differences are the differences, one sentence each.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=160
	Differences []string `json:"differences,omitempty"`
	// securitySettings are settings of audit, authentication, authorization, admission, encryption
	// and TLS in which the manifests differ from what kubeadm renders: a component with a flag or a
	// mount, such as `kube-apiserver --audit-policy-file`.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	// +kubebuilder:validation:items:MaxLength=96
	SecuritySettings []string `json:"securitySettings,omitempty"`
	// missingManifests are missing static pod manifests.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=64
	MissingManifests []string `json:"missingManifests,omitempty"`
	// unparsableManifests are files in the manifests directory that cannot be read as a pod.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=64
	UnparsableManifests []string `json:"unparsableManifests,omitempty"`
	// apiReferences are static pods that reference Secrets, ConfigMaps or ServiceAccounts.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=128
	APIReferences []string `json:"apiReferences,omitempty"`
}

// CRIFacts describes a container runtime.
type CRIFacts struct {
	// runtime is the name and version of the runtime.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Runtime string `json:"runtime,omitempty"`
	// runtimeConfig is true if the runtime implements the CRI method RuntimeConfig.
	// +optional
	RuntimeConfig *bool `json:"runtimeConfig,omitempty"`
}

// EtcdFacts describes an etcd member.
type EtcdFacts struct {
	// name is the member's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// id is the member's id, in hexadecimal.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{1,16}$`
	ID string `json:"id,omitempty"`
	// version is the member's version.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
	// healthy is true if a linearizable read succeeded.
	// +optional
	Healthy bool `json:"healthy,omitempty"`
	// leader is true if the member is the leader.
	// +optional
	Leader bool `json:"leader,omitempty"`
	// learner is true if the member is a learner.
	// +optional
	Learner bool `json:"learner,omitempty"`
	// members are the names of all members as this member reports them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	Members []string `json:"members,omitempty"`
	// alarms are the active alarms.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MaxLength=32
	Alarms []string `json:"alarms,omitempty"`
	// dbSizeMiB is the size of the database.
	// +optional
	// +kubebuilder:validation:Minimum=0
	DBSizeMiB int64 `json:"dbSizeMiB,omitempty"`
	// quotaMiB is the maximum size of the database.
	// +optional
	// +kubebuilder:validation:Minimum=0
	QuotaMiB int64 `json:"quotaMiB,omitempty"`
}

// ExternalEtcdFacts is an etcd that does not run as static pods of the control plane, as one host
// reaches it.
type ExternalEtcdFacts struct {
	// clusterID is the id of the etcd cluster, in hexadecimal.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{1,16}$`
	ClusterID string `json:"clusterID,omitempty"`
	// members are all members, unhealthy ones first.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=9
	Members []ExternalEtcdMember `json:"members,omitempty"`
	// alarms are the active alarms.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MaxLength=32
	Alarms []string `json:"alarms,omitempty"`
	// dbSizeMiB is the size of the largest database of a member.
	// +optional
	// +kubebuilder:validation:Minimum=0
	DBSizeMiB int64 `json:"dbSizeMiB,omitempty"`
	// quotaMiB is the lowest maximum size of a database.
	// +optional
	// +kubebuilder:validation:Minimum=0
	QuotaMiB int64 `json:"quotaMiB,omitempty"`
}

// ExternalEtcdMember is one member of an external etcd.
type ExternalEtcdMember struct {
	// name is the member's name, or its id if it was added and never started.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// id is the member's id, in hexadecimal.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{1,16}$`
	ID string `json:"id,omitempty"`
	// version is the member's version, empty if the member does not report it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
	// healthy is true if the member served a linearizable read and reports no error.
	// +optional
	Healthy bool `json:"healthy,omitempty"`
	// leader is true if the member is the leader.
	// +optional
	Leader bool `json:"leader,omitempty"`
	// learner is true if the member is a learner.
	// +optional
	Learner bool `json:"learner,omitempty"`
	// problem is why the member is unhealthy.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Problem string `json:"problem,omitempty"`
}

// APIServerFacts is one API server.
type APIServerFacts struct {
	// version is the version that it reports on its own port.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
	// ready is true if /readyz returns ok.
	// +optional
	Ready bool `json:"ready,omitempty"`
}
