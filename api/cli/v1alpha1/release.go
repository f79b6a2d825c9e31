package v1alpha1

import refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"

// The kinds of the documents about Releases.
const (
	KindReleaseContent = "ReleaseContent"
	KindReleaseKey     = "ReleaseKey"
	KindAddedRelease   = "AddedRelease"
	KindReleases       = "Releases"
)

// The levels of trust in a ClusterRelease.
const (
	TrustVerified   = "Verified"   // the signature was verified
	TrustUnverified = "Unverified" // it is signed, but the signature was not verified
	TrustUnsigned   = "Unsigned"
)

// ReleaseContent is the result of `refit release show` and `refit release verify`.
type ReleaseContent struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name,omitempty"` // of the object
	Digest     string `json:"digest,omitempty"`
	KeyID      string `json:"keyID,omitempty"`
	Trust      string `json:"trust"`

	Content refitv1alpha1.ReleasePayload `json:"content"`

	// Components have an envelope of their own, which names the digest.
	Components []refitv1alpha1.ReleaseComponent `json:"components,omitempty"`
	// Form is the form that users fill in.
	Form *refitv1alpha1.ComponentForm `json:"form,omitempty"`

	// Compared is the result of comparing the files with the signed digests.
	Compared *Compared `json:"compared,omitempty"`
}

// Compared is the result of reading the files of a ClusterRelease.
type Compared struct {
	Files int         `json:"files"`
	Wrong []WrongFile `json:"wrong,omitempty"`
}

// WrongFile is a file that is missing or does not match its signed digest.
type WrongFile struct {
	Path   string `json:"path,omitempty"`
	Digest string `json:"digest"`
	Why    string `json:"why"`
}

// ReleaseKey is the result of `refit release key create`.
type ReleaseKey struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	PrivateKey string `json:"privateKey"` // the files
	PublicKey  string `json:"publicKey"`
	KeyID      string `json:"keyID"`
	Encrypted  bool   `json:"encrypted"` // the private key has a passphrase
	// Keyring is set if the passphrase was generated and is in the keyring of the user.
	Keyring bool `json:"keyring,omitempty"`
}

// NewReleaseKey returns the document about a new key pair.
func NewReleaseKey(private, public, id string) ReleaseKey {
	return ReleaseKey{APIVersion: APIVersion, Kind: KindReleaseKey, PrivateKey: private, PublicKey: public, KeyID: id}
}

// AddedRelease is the result of `refit release add`.
type AddedRelease struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Name       string `json:"name"` // of the ClusterRelease
	Kubernetes string `json:"kubernetes"`
	KeyID      string `json:"keyID"` // of the key that signed it
	// Existed is set if the cluster had a ClusterRelease with the same content before.
	Existed bool `json:"existed,omitempty"`
}

// NewAddedRelease returns the document about a ClusterRelease that was added to a cluster.
func NewAddedRelease(cluster, name, kubernetes, keyID string) *AddedRelease {
	return &AddedRelease{APIVersion: APIVersion, Kind: KindAddedRelease, Cluster: cluster, Name: name, Kubernetes: kubernetes, KeyID: keyID}
}

// ReleaseManifest is a ClusterRelease object for `kubectl apply`, without fields that a server
// sets.
type ReleaseManifest struct {
	APIVersion string                           `json:"apiVersion"`
	Kind       string                           `json:"kind"`
	Metadata   ReleaseMetadata                  `json:"metadata"`
	Spec       refitv1alpha1.ClusterReleaseSpec `json:"spec"`
}

// ReleaseMetadata is the metadata of a ReleaseManifest.
type ReleaseMetadata struct {
	Name string `json:"name"`
}

// NewReleaseManifest returns the manifest of a ClusterRelease.
func NewReleaseManifest(name string, spec refitv1alpha1.ClusterReleaseSpec) *ReleaseManifest {
	return &ReleaseManifest{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "ClusterRelease", Metadata: ReleaseMetadata{Name: name}, Spec: spec}
}
