package versions

import (
	"fmt"
	"strings"
)

// Registry is where kubeadm expects its images.
const Registry = "registry.k8s.io"

// BusyboxImage is the image of smoke workloads: sh, wget, nslookup, httpd.
const BusyboxImage = "localhost/busybox:" + Busybox

// packageRevision is the revision of upstream packages.
const packageRevision = "-1.1"

// Release is a Kubernetes version and the versions that its kubeadm installs.
type Release struct {
	Kubernetes   string // v1.36.3
	Etcd         string // v3.6.8, the Go module's version
	EtcdImageTag string // 3.6.8-0
	CoreDNS      string // v1.14.2
	Pause        string // 3.10.2
}

// Lookup returns the release of a Kubernetes version, with or without the leading v.
func Lookup(kubernetes string) (Release, error) {
	wanted := "v" + strings.TrimPrefix(kubernetes, "v")
	for _, release := range releases {
		if release.Kubernetes == wanted {
			return release, nil
		}
	}
	return Release{}, fmt.Errorf("kubernetes %q is not supported by the testbed; supported versions: %s",
		kubernetes, strings.Join(Kubernetes(), ", "))
}

// Kubernetes returns the supported versions, oldest first.
func Kubernetes() []string {
	names := make([]string, 0, len(releases))
	for _, release := range releases {
		names = append(names, release.Kubernetes)
	}
	return names
}

// Minor returns the minor version: 36 for v1.36.3.
func (r Release) Minor() string { return strings.Split(r.Kubernetes, ".")[1] }

// Staging returns the version of the k8s.io libraries of this release: v0.36.3.
func (r Release) Staging() string { return "v0" + strings.TrimPrefix(r.Kubernetes, "v1") }

// PackageVersion returns the version of the deb packages: 1.36.3-1.1.
func (r Release) PackageVersion() string {
	return strings.TrimPrefix(r.Kubernetes, "v") + packageRevision
}

// PauseImage returns the sandbox image that containerd is configured with.
func (r Release) PauseImage() string { return Registry + "/pause:" + r.Pause }

// KubeadmImages returns the images of this release in the order of `kubeadm config images list`.
func (r Release) KubeadmImages() []string {
	return []string{
		Registry + "/kube-apiserver:" + r.Kubernetes,
		Registry + "/kube-controller-manager:" + r.Kubernetes,
		Registry + "/kube-scheduler:" + r.Kubernetes,
		Registry + "/kube-proxy:" + r.Kubernetes,
		Registry + "/coredns/coredns:" + r.CoreDNS,
		r.PauseImage(),
		Registry + "/etcd:" + r.EtcdImageTag,
	}
}

// CNIPackageVersion returns the version of the kubernetes-cni package: 1.9.1-1.1.
func CNIPackageVersion() string { return strings.TrimPrefix(CNIPlugins, "v") + packageRevision }

// ContainerdPackageVersion returns the version of the testbed's containerd package, which upgrades
// Debian's 1.6.20~ds1-….
func ContainerdPackageVersion() string { return strings.TrimPrefix(Containerd, "v") + "-1" }
