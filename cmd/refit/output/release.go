package output

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// The kinds of the answers about Releases.
const (
	KindReleaseContent = "ReleaseContent"
	KindReleaseKey     = "ReleaseKey"
)

// How far a Release can be trusted.
const (
	TrustVerified   = "Verified"   // its signature is good
	TrustUnverified = "Unverified" // it is signed, by whom was not asked
	TrustUnsigned   = "Unsigned"
)

// ReleaseContent is the answer of `refit release show` and `refit release verify`.
type ReleaseContent struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name,omitempty"` // of the object
	Digest     string `json:"digest,omitempty"`
	KeyID      string `json:"keyID,omitempty"`
	Trust      string `json:"trust"`

	Content refitv1alpha1.ReleasePayload `json:"content"`

	// Compared is what came of comparing the files with what was signed.
	Compared *Compared `json:"compared,omitempty"`
}

// Compared is what came of reading the files of a Release.
type Compared struct {
	Files int         `json:"files"`
	Wrong []WrongFile `json:"wrong,omitempty"`
}

// WrongFile is a file that is not there as it was signed.
type WrongFile struct {
	Path   string `json:"path,omitempty"`
	Digest string `json:"digest"`
	Why    string `json:"why"`
}

// NewReleaseContent makes the answer.
func NewReleaseContent(name, trust string, r artifact.Release) ReleaseContent {
	return ReleaseContent{
		APIVersion: APIVersion, Kind: KindReleaseContent, Name: name, Digest: r.Digest, KeyID: r.KeyID, Trust: trust, Content: r.Payload,
	}
}

// ReleaseKey is the answer of `refit release key new`.
type ReleaseKey struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	PrivateKey string `json:"privateKey"` // the files
	PublicKey  string `json:"publicKey"`
	KeyID      string `json:"keyID"`
}

// NewReleaseKey makes the answer.
func NewReleaseKey(private, public, id string) ReleaseKey {
	return ReleaseKey{APIVersion: APIVersion, Kind: KindReleaseKey, PrivateKey: private, PublicKey: public, KeyID: id}
}

// ReleaseManifest is a Release object as it is applied: with nothing in it that a server fills in.
type ReleaseManifest struct {
	APIVersion string                    `json:"apiVersion"`
	Kind       string                    `json:"kind"`
	Metadata   ReleaseMetadata           `json:"metadata"`
	Spec       refitv1alpha1.ReleaseSpec `json:"spec"`
}

// ReleaseMetadata is what of an object's metadata a person gives.
type ReleaseMetadata struct {
	Name string `json:"name"`
}

// NewReleaseManifest makes the object.
func NewReleaseManifest(name string, spec refitv1alpha1.ReleaseSpec) *ReleaseManifest {
	return &ReleaseManifest{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "Release", Metadata: ReleaseMetadata{Name: name}, Spec: spec}
}
