package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// releaseFile is a ClusterRelease in a file: the object, its envelope alone, or its content before it was signed.
type releaseFile struct {
	name       string // of the object
	kubernetes string // as the object repeats it
	envelope   []byte
	payload    []byte // of one that is not signed
}

// readRelease reads a ClusterRelease, without judging it.
func (a *app) readRelease(name string) (*releaseFile, error) {
	raw, err := a.open(name)
	if err != nil {
		return nil, fmt.Errorf("the ClusterRelease cannot be read: %w", err)
	}
	if name == stdio {
		name = "stdin"
	}
	document, err := onlyDocument(raw, "ClusterRelease")
	if err != nil {
		return nil, usage("%s: %w", name, err)
	}
	var kind struct {
		Kind        string          `json:"kind"`
		PayloadType string          `json:"payloadType"`
		Kubernetes  json.RawMessage `json:"kubernetes"`
	}
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return nil, usage("%s is no YAML or JSON", name)
	}
	switch {
	case kind.Kind == "ClusterRelease":
		return readReleaseObject(name, document)
	case kind.PayloadType != "":
		return &releaseFile{envelope: bytes.TrimSpace(document)}, nil
	case kind.Kubernetes != nil && kind.Kind == "":
		return &releaseFile{payload: document}, nil
	}
	return nil, usage("%s holds no ClusterRelease (kind %q)", name, kind.Kind)
}

func readReleaseObject(name string, document []byte) (*releaseFile, error) {
	decode, err := decoder()
	if err != nil {
		return nil, err
	}
	release := &refitv1alpha1.ClusterRelease{}
	if _, _, err := decode.Decode(document, nil, release); err != nil {
		return nil, usage("%s: %s", name, strings.TrimPrefix(err.Error(), "strict decoding error: "))
	}
	return &releaseFile{name: release.Name, kubernetes: release.Spec.Kubernetes, envelope: release.Spec.Envelope}, nil
}

// open reads what the ClusterRelease says, whoever signed it.
func (r *releaseFile) open() (release artifact.Release, signed bool, err error) {
	if r.envelope == nil {
		payload, err := artifact.ParsePayload(r.payload)
		return artifact.Release{Payload: payload}, false, err
	}
	release, err = artifact.Unverified(r.envelope)
	return release, true, errors.Join(err, r.agrees(release))
}

// verify reads what the ClusterRelease says, if one of the keys signed it.
func (r *releaseFile) verify(keys []artifact.PublicKey) (artifact.Release, error) {
	if r.envelope == nil {
		return artifact.Release{}, errors.New("it is not signed yet")
	}
	release, err := artifact.Verify(r.envelope, keys)
	if err != nil {
		return artifact.Release{}, err
	}
	return release, r.agrees(release)
}

// agrees says whether the object repeats what was signed. Agents and plans refuse one that does not.
func (r *releaseFile) agrees(release artifact.Release) error {
	if r.kubernetes == "" || release.Payload.Kubernetes == "" || r.kubernetes == release.Payload.Kubernetes {
		return nil
	}
	return fmt.Errorf("spec.kubernetes says %q, but what was signed says %q", r.kubernetes, release.Payload.Kubernetes)
}
