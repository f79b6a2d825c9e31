package versions

// Versions that do not depend on the Kubernetes release.
const (
	ContainerdRelease = "2.4.2"
	Containerd        = "v" + ContainerdRelease // the Go module version
	CNIPlugins        = "v1.9.1"

	// Debian is the suite of the node's root file system, including its containerd and runc.
	Debian = "bookworm"
	// DebianContainerd is the containerd version of that suite, from which containerd upgrades
	// start.
	DebianContainerd = "1.6.20"
	// Busybox is the busybox version of that suite.
	Busybox = "1.35"
)

// releases must match kubeadm's own constants (cmd/kubeadm/app/constants): the builder compares
// every row with the kubeadm that it builds and fails if they differ.
var releases = []Release{
	{Kubernetes: "v1.34.4", Etcd: "v3.6.5", EtcdImageTag: "3.6.5-0", CoreDNS: "v1.12.1", Pause: "3.10.1"},
	{Kubernetes: "v1.35.4", Etcd: "v3.6.6", EtcdImageTag: "3.6.6-0", CoreDNS: "v1.13.1", Pause: "3.10.1"},
	{Kubernetes: "v1.36.3", Etcd: "v3.6.8", EtcdImageTag: "3.6.8-0", CoreDNS: "v1.14.2", Pause: "3.10.2"},
	{Kubernetes: "v1.37.1", Etcd: "v3.7.0", EtcdImageTag: "3.7.0-0", CoreDNS: "v1.14.6", Pause: "3.10.2"},
}
