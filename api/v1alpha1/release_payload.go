package v1alpha1

import (
	"fmt"
	"slices"
)

// The versions of the payload of a ClusterRelease. A payload has the lowest version that carries
// its fields; an agent refuses newer versions than it knows.
const (
	MinPayloadVersion = 1
	MaxPayloadVersion = payloadConfiguration

	payloadArchives      = 2 // adds files in archives
	payloadConfiguration = 3 // adds the patch of kubeadm's ClusterConfiguration
)

// ReleasePayloadType is the DSSE payload type of version 1.
const ReleasePayloadType = "application/vnd.refit.release.v1+json"

// PayloadType returns the DSSE payload type of a version.
func PayloadType(version int32) string {
	return fmt.Sprintf("application/vnd.refit.release.v%d+json", version)
}

// PayloadVersion returns the version of a DSSE payload type, or 0 if it is not a known one.
func PayloadVersion(payloadType string) int32 {
	for version := int32(MinPayloadVersion); version <= MaxPayloadVersion; version++ {
		if PayloadType(version) == payloadType {
			return version
		}
	}
	return 0
}

// ReleasePayload is the signed content of a ClusterRelease's envelope. Agents decode it strictly:
// an unknown field may matter.
//
// +kubebuilder:object:generate=false
type ReleasePayload struct {
	// Kubernetes, Etcd, Containerd, Runc, CNIPlugins, CoreDNS and Pause are the versions that the
	// ClusterRelease contains. A component without a version is not changed.
	Kubernetes string `json:"kubernetes"`
	Etcd       string `json:"etcd,omitempty"`
	Containerd string `json:"containerd,omitempty"`
	Runc       string `json:"runc,omitempty"`
	CNIPlugins string `json:"cniPlugins,omitempty"`
	CoreDNS    string `json:"coreDNS,omitempty"`
	Pause      string `json:"pause,omitempty"`

	// Files are binaries and packages for all platforms that the ClusterRelease supports. A host
	// installs those of its platform and package kind.
	Files []ReleaseFile `json:"files,omitempty"`
	// Images are the images that the container runtime must have before the host is changed.
	Images []ReleaseImage `json:"images,omitempty"`

	// ClusterConfiguration is what the ClusterRelease sets in kubeadm's ClusterConfiguration. It
	// needs payload version 3.
	ClusterConfiguration *ClusterConfigurationPatch `json:"clusterConfiguration,omitempty"`
}

// Version returns the lowest version that carries the payload.
func (p *ReleasePayload) Version() int32 {
	switch {
	case p.ClusterConfiguration != nil:
		return payloadConfiguration
	case slices.ContainsFunc(p.Files, func(f ReleaseFile) bool { return f.Archive != nil }):
		return payloadArchives
	}
	return MinPayloadVersion
}

// Part is a component of a host that a ClusterRelease can replace.
type Part string

// The parts, in the order of their replacement.
const (
	PartKubeadm    Part = "kubeadm"
	PartContainerd Part = "containerd"
	PartRunc       Part = "runc"
	PartCNI        Part = "cni"
	PartKubelet    Part = "kubelet"
	PartKubectl    Part = "kubectl"
)

// ReleaseFile is one binary or package.
//
// +kubebuilder:object:generate=false
type ReleaseFile struct {
	// Part is the component that the file belongs to. A component can have several files
	// (containerd and its shim).
	Part Part `json:"part"`
	// Name is the name of the binary or package.
	Name string `json:"name"`
	// Kind is how it is installed.
	Kind PackageKind `json:"kind"`
	// OS and Arch are the platform, as Go names it.
	OS   string `json:"os"`
	Arch string `json:"arch"`
	// Version is the version that the binary reports (v1.36.3), or the full version of the package
	// (1.36.3-1.1).
	Version string `json:"version"`

	Blob

	// Archive is the archive that contains the binary. Digest and size of the file are those of the
	// extracted binary, which then has no path and no URLs of its own. It needs payload version 2.
	Archive *ReleaseArchive `json:"archive,omitempty"`
}

// ReleaseArchive is a tar archive, compressed with gzip, that contains a binary.
//
// +kubebuilder:object:generate=false
type ReleaseArchive struct {
	// Member is the path of the binary in the archive, such as bin/containerd.
	Member string `json:"member"`

	Blob
}

// ReleaseImage is one container image.
//
// +kubebuilder:object:generate=false
type ReleaseImage struct {
	// Name is the full name of the image with its tag, as in manifests.
	Name string `json:"name"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
	// ControlPlane is set if only control plane nodes need the image.
	ControlPlane bool `json:"controlPlane,omitempty"`
	// Config is the digest of the image's configuration, by which a container runtime identifies
	// the image that it has under the name.
	Config string `json:"config"`
	// Archive is the image as a file. An image without one is pulled.
	Archive *Blob `json:"archive,omitempty"`
}

// Blob is a file that is identified by its digest, whatever its source.
//
// +kubebuilder:object:generate=false
type Blob struct {
	// Digest is sha256: and 64 hexadecimal digits.
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	// Path is the path in a folder or mirror that was created with the ClusterRelease. The file may
	// also be at blobs/sha256/DIGEST.
	Path string `json:"path,omitempty"`
	// URLs are the addresses at which the file was published.
	URLs []string `json:"urls,omitempty"`
}
