package artifact

import (
	"path"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// programs are the programs of each part. A ClusterRelease can bring no other: where it would be installed is known for these alone.
var programs = map[refitv1alpha1.Part][]string{
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

// packages are the packages of each part, as the usual repositories call them.
var packages = map[refitv1alpha1.Part][]string{
	refitv1alpha1.PartKubeadm:    {"kubeadm"},
	refitv1alpha1.PartKubelet:    {"kubelet"},
	refitv1alpha1.PartKubectl:    {"kubectl"},
	refitv1alpha1.PartContainerd: {"containerd", "containerd.io"},
	refitv1alpha1.PartRunc:       {"runc"},
	refitv1alpha1.PartCNI:        {"kubernetes-cni", "containernetworking-plugins"},
}

// PartOfProgram is the part that a program belongs to.
func PartOfProgram(name string) (refitv1alpha1.Part, bool) { return partOf(programs, name) }

// PartOfPackage is the part that a package belongs to.
func PartOfPackage(name string) (refitv1alpha1.Part, bool) { return partOf(packages, name) }

func partOf(list map[refitv1alpha1.Part][]string, name string) (refitv1alpha1.Part, bool) {
	for part, names := range list {
		if slices.Contains(names, name) {
			return part, true
		}
	}
	return "", false
}

// versionOfPart is what a ClusterRelease claims of a part.
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

// versionOfImage is what a ClusterRelease claims of one of kubeadm's images, and the tag that the image has. Other images have no claim.
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

// SplitImage takes the last word of an image's name, which tells what it is in whichever registry it lies, and its tag.
func SplitImage(image string) (name, tag string) {
	name, tag, _ = strings.Cut(path.Base(image), ":")
	return name, tag
}

// sameVersion says whether a file's version is the one that a ClusterRelease claims. Packages have a revision besides it; programs have not.
func sameVersion(kind refitv1alpha1.PackageKind, version, claimed string) bool {
	if kind == refitv1alpha1.PackageBinary {
		return strings.TrimPrefix(version, "v") == strings.TrimPrefix(claimed, "v")
	}
	return UpstreamVersion(version) == UpstreamVersion(claimed)
}

// UpstreamVersion is the version that a program or package of a distribution was made from: v1.36.3, 1.36.3-1.1 and 1.36.3+ds1-1 are 1.36.3.
func UpstreamVersion(version string) string {
	if _, after, epoch := strings.Cut(version, ":"); epoch {
		version = after
	}
	version = strings.TrimPrefix(version, "v")
	if end := strings.IndexAny(version, "-+~"); end >= 0 {
		version = version[:end]
	}
	return version
}
