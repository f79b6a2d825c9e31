package v1alpha1

// ReleasePayloadType is the DSSE payload type of a ClusterRelease.
const ReleasePayloadType = "application/vnd.refit.release.v1+json"

// ReleasePayload is what is signed: the content of a ClusterRelease's envelope. It is read
// strictly: a field that an agent does not know may be one that matters.
//
// +kubebuilder:object:generate=false
type ReleasePayload struct {
	// Kubernetes, Etcd, Containerd, Runc, CNIPlugins, CoreDNS and Pause are the versions that the
	// ClusterRelease brings; empty: it leaves that part alone.
	Kubernetes string `json:"kubernetes"`
	Etcd       string `json:"etcd,omitempty"`
	Containerd string `json:"containerd,omitempty"`
	Runc       string `json:"runc,omitempty"`
	CNIPlugins string `json:"cniPlugins,omitempty"`
	CoreDNS    string `json:"coreDNS,omitempty"`
	Pause      string `json:"pause,omitempty"`

	// Files are programs and packages, for every platform and kind of host that the ClusterRelease
	// serves. A host takes those that fit it.
	Files []ReleaseFile `json:"files,omitempty"`
	// Images are what the container runtime must have before anything is changed.
	Images []ReleaseImage `json:"images,omitempty"`
}

// Part is a part of a host that a ClusterRelease can bring.
type Part string

// The parts, in the order in which a host is changed.
const (
	PartKubeadm    Part = "kubeadm"
	PartContainerd Part = "containerd"
	PartRunc       Part = "runc"
	PartCNI        Part = "cni"
	PartKubelet    Part = "kubelet"
	PartKubectl    Part = "kubectl"
)

// ReleaseFile is one program or package.
//
// +kubebuilder:object:generate=false
type ReleaseFile struct {
	// Part is the part that the file belongs to. Several files can make one part (containerd and
	// its shim).
	Part Part `json:"part"`
	// Name is the program's or the package's name.
	Name string `json:"name"`
	// Kind is how it is installed.
	Kind PackageKind `json:"kind"`
	// OS and Arch are the platform, as Go names it.
	OS   string `json:"os"`
	Arch string `json:"arch"`
	// Version is what the program says of itself (v1.36.3), or the package's full version
	// (1.36.3-1.1).
	Version string `json:"version"`

	Blob
}

// ReleaseImage is one container image.
//
// +kubebuilder:object:generate=false
type ReleaseImage struct {
	// Name is the image's full name with its tag, as manifests name it.
	Name string `json:"name"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
	// ControlPlane says that only control plane nodes need it.
	ControlPlane bool `json:"controlPlane,omitempty"`
	// Config is the digest of the image's configuration, by which a runtime knows what it has under
	// the name.
	Config string `json:"config"`
	// Archive is the image as a file. Without one it can only be pulled.
	Archive *Blob `json:"archive,omitempty"`
}

// Blob is a file, known by its digest; where it comes from does not matter.
//
// +kubebuilder:object:generate=false
type Blob struct {
	// Digest is sha256: and 64 hexadecimal digits.
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	// Path is where it lies in a folder or mirror that was made with the ClusterRelease, besides
	// blobs/sha256/DIGEST, where it may lie too.
	Path string `json:"path,omitempty"`
	// URLs are where it was published.
	URLs []string `json:"urls,omitempty"`
}
