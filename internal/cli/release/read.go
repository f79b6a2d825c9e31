package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// File is a ClusterRelease in a file: the object, only its envelope, or its payload before it is
// signed.
type File struct {
	Name       string // of the object, empty if it is none
	kubernetes string // spec.kubernetes of the object
	envelope   []byte
	payload    []byte // of one that is not signed
}

// Load reads the ClusterRelease in a file, or on standard input, without verifying it.
func Load(name string, readFile func(name string) ([]byte, error)) (*File, error) {
	raw, err := readFile(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the ClusterRelease: %w", err)
	}
	return Read(document.NameOf(name), raw)
}

// Read decodes the ClusterRelease in a file of this name, without verifying it.
func Read(name string, raw []byte) (*File, error) {
	only, err := document.Only(raw, "ClusterRelease")
	if err != nil {
		return nil, exit.Usagef("%s: %w", name, err)
	}
	var kind struct {
		Kind        string          `json:"kind"`
		PayloadType string          `json:"payloadType"`
		Kubernetes  json.RawMessage `json:"kubernetes"`
	}
	if err := yaml.Unmarshal(only, &kind); err != nil {
		return nil, exit.Usagef("cannot read the ClusterRelease in %s: it is neither YAML nor JSON", name)
	}
	switch {
	case kind.Kind == "ClusterRelease":
		return readObject(name, only)
	case kind.PayloadType != "":
		return &File{envelope: bytes.TrimSpace(only)}, nil
	case kind.Kubernetes != nil && kind.Kind == "":
		return &File{payload: only}, nil
	}
	return nil, exit.Usagef("cannot read a ClusterRelease from %s: its kind is %q. Use the output of `refit release create` or `refit release sign`",
		name, kind.Kind)
}

func readObject(name string, raw []byte) (*File, error) {
	release := &refitv1alpha1.ClusterRelease{}
	if err := document.Decode(raw, release); err != nil {
		return nil, exit.Usagef("%s: %w", name, err)
	}
	return &File{Name: release.Name, kubernetes: release.Spec.Kubernetes, envelope: release.Spec.Envelope}, nil
}

// Open returns the content of the ClusterRelease, without verifying the signature.
func (r *File) Open() (release artifact.Release, signed bool, err error) {
	if r.envelope == nil {
		payload, err := artifact.ParsePayload(r.payload)
		return artifact.Release{Payload: payload}, false, err
	}
	release, err = artifact.Unverified(r.envelope)
	return release, true, errors.Join(err, r.agrees(release))
}

// Verify returns the content of the ClusterRelease if one of the keys signed it.
func (r *File) Verify(keys []artifact.PublicKey) (artifact.Release, error) {
	if r.envelope == nil {
		return artifact.Release{}, errors.New("cannot verify an unsigned ClusterRelease. Sign it with `refit release sign`")
	}
	release, err := artifact.Verify(r.envelope, keys)
	if err != nil {
		return artifact.Release{}, err
	}
	return release, r.agrees(release)
}

// agrees returns an error if the object differs from its signed content. Agents and plans reject
// such an object.
func (r *File) agrees(release artifact.Release) error {
	if r.kubernetes == "" || release.Payload.Kubernetes == "" || r.kubernetes == release.Payload.Kubernetes {
		return nil
	}
	return fmt.Errorf("spec.kubernetes is %q, but the signed content has %q", r.kubernetes, release.Payload.Kubernetes)
}
