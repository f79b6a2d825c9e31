package artifact

import (
	"path"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// binaries are the binaries of each part. A ClusterRelease has no others: only of these the install
// path is known.
var binaries = map[refitv1alpha1.Part][]string{
	refitv1alpha1.PartKubeadm:    {"kubeadm"},
	refitv1alpha1.PartKubelet:    {"kubelet"},
	refitv1alpha1.PartKubectl:    {"kubectl"},
	refitv1alpha1.PartContainerd: {"containerd", "containerd-shim-runc-v2", "ctr"},
	refitv1alpha1.PartRunc:       {"runc"},
	refitv1alpha1.PartCNI: {
		"bandwidth", "bridge", "dhcp", "dummy", "firewall", "host-device", "host-local", "ipvlan", "loopback", "macvlan", "portmap", "ptp",
		"sbr", "static", "tap", "tuning", "vlan", "vrf",
	},
}

// packages are the packages of each part, by their names in the usual repositories.
var packages = map[refitv1alpha1.Part][]string{
	refitv1alpha1.PartKubeadm:    {"kubeadm"},
	refitv1alpha1.PartKubelet:    {"kubelet"},
	refitv1alpha1.PartKubectl:    {"kubectl"},
	refitv1alpha1.PartContainerd: {"containerd", "containerd.io"},
	refitv1alpha1.PartRunc:       {"runc"},
	refitv1alpha1.PartCNI:        {"kubernetes-cni", "containernetworking-plugins"},
}

// PartOfBinary returns the part of a binary.
func PartOfBinary(name string) (refitv1alpha1.Part, bool) { return partOf(binaries, name) }

// PartOfPackage returns the part of a package.
func PartOfPackage(name string) (refitv1alpha1.Part, bool) { return partOf(packages, name) }

func partOf(list map[refitv1alpha1.Part][]string, name string) (refitv1alpha1.Part, bool) {
	for part, names := range list {
		if slices.Contains(names, name) {
			return part, true
		}
	}
	return "", false
}

// versionOfPart returns the version of a part that a ClusterRelease claims.
func versionOfPart(p refitv1alpha1.ReleasePayload, part refitv1alpha1.Part) (version string, known bool) {
	switch part {
	case refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubelet, refitv1alpha1.PartKubectl:
		return p.Kubernetes, true
	case refitv1alpha1.PartContainerd:
		return p.Containerd, true
	case refitv1alpha1.PartRunc:
		return p.Runc, true
	case refitv1alpha1.PartCNI:
		return p.CNIPlugins, true
	}
	return "", false
}

// versionOfImage returns the version that a ClusterRelease claims for an image of kubeadm, and the
// image's tag. known is false for all other images.
func versionOfImage(p refitv1alpha1.ReleasePayload, image string) (claimed, tag string, known bool) {
	name, tag := SplitImage(image)
	switch name {
	case "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy":
		return p.Kubernetes, tag, true
	case "etcd":
		return p.Etcd, tag, true
	case "coredns":
		return p.CoreDNS, tag, true
	case "pause":
		return p.Pause, tag, true
	}
	return "", tag, false
}

// SplitImage returns the last element of an image's name, which does not depend on the registry,
// and its tag.
func SplitImage(image string) (name, tag string) {
	name, tag, _ = strings.Cut(path.Base(image), ":")
	return name, tag
}

// sameVersion reports whether a file has the version that a ClusterRelease claims. Versions of
// packages also have a revision.
func sameVersion(kind refitv1alpha1.PackageKind, version, claimed string) bool {
	if kind == refitv1alpha1.PackageBinary {
		return strings.TrimPrefix(version, "v") == strings.TrimPrefix(claimed, "v")
	}
	return UpstreamVersion(version) == UpstreamVersion(claimed)
}

// UpstreamVersion returns the upstream version of a binary or a package: that of v1.36.3,
// 1.36.3-1.1 and 1.36.3+ds1-1 is 1.36.3.
func UpstreamVersion(version string) string {
	if _, after, epoch := strings.Cut(version, ":"); epoch {
		version = after
	}
	version = strings.TrimPrefix(version, "v")
	if end := strings.IndexAny(version, "-+~^"); end >= 0 {
		version = version[:end]
	}
	return version
}
