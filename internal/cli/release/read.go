package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
)

// File is a ClusterRelease in a file: the object and the charts of its components, only its
// envelope, or its content before it is signed.
type File struct {
	Name       string // of the object, empty if it is none
	kubernetes string // spec.kubernetes of the object
	envelope   []byte
	components []byte            // the envelope of the components
	charts     map[string][]byte // by digest
	payload    []byte            // content that is not signed
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
	only, archives, err := withoutCharts(raw)
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
		file, err := readObject(name, only)
		if err == nil {
			file.charts = archives
		}
		return file, err
	case len(archives) > 0:
		return nil, exit.Usagef("cannot read a ClusterRelease from %s: it has charts, but no ClusterRelease", name)
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
	spec := release.Spec
	return &File{Name: release.Name, kubernetes: spec.Kubernetes, envelope: spec.Envelope, components: spec.Components}, nil
}

// withoutCharts returns the only document that is not a chart, and the charts by their digest.
func withoutCharts(raw []byte) (only []byte, archives map[string][]byte, err error) {
	all, err := document.All(raw)
	if err != nil {
		return nil, nil, err
	}
	var others [][]byte
	for _, each := range all {
		object := corev1.ConfigMap{}
		if len(all) == 1 || yaml.Unmarshal(each, &object) != nil || object.Kind != "ConfigMap" {
			others = append(others, each)
			continue
		}
		chart := charts.Identify(object.BinaryData[charts.Key])
		if object.Name != charts.Name(chart.Digest) {
			name := strconv.QuoteToASCII(refitv1alpha1.Clip(object.Name, 80))
			return nil, nil, fmt.Errorf("ConfigMap %s has no chart, or another one than its name promises", name)
		}
		if archives == nil {
			archives = map[string][]byte{}
		}
		archives[chart.Digest] = object.BinaryData[charts.Key]
	}
	if len(others) != 1 {
		return nil, nil, fmt.Errorf("it holds %d objects besides charts: give it one ClusterRelease", len(others))
	}
	return others[0], archives, nil
}

// Open returns the content of the ClusterRelease, without verifying the signature. Charts may be
// missing, as they are in an object from a cluster.
func (r *File) Open() (out Opened, signed bool, err error) {
	if r.envelope == nil {
		c, err := parseContent(r.payload)
		if err != nil {
			return Opened{}, false, err
		}
		return Opened{artifact.Release{Payload: c.payload}, c.components.Components, c.components.Form}, false, nil
	}
	if out.Release, err = artifact.Unverified(r.envelope); err != nil {
		return out, true, err
	}
	if r.components != nil {
		components, err := artifact.UnverifiedComponents(r.components, out.Digest)
		if err != nil {
			return out, true, fmt.Errorf("cannot read the components: %w", err)
		}
		out.Components, out.Form = components.List, components.Form
	}
	return out, true, r.agrees(out.Release)
}

// Verify returns the content of the ClusterRelease if one of the keys signed it and its components,
// and if all charts are there.
func (r *File) Verify(keys []artifact.PublicKey) (out Opened, err error) {
	if r.envelope == nil {
		return Opened{}, errors.New("cannot verify an unsigned ClusterRelease. Sign it with `refit release sign`")
	}
	if out.Release, err = artifact.Verify(r.envelope, keys); err != nil {
		return Opened{}, err
	}
	if r.components != nil {
		components, err := artifact.VerifyComponents(r.components, out.Digest, keys)
		if err != nil {
			return Opened{}, err
		}
		out.Components, out.Form = components.List, components.Form
	}
	if err := hasCharts(r.charts, out.Components); err != nil {
		return Opened{}, err
	}
	return out, r.agrees(out.Release)
}

// agrees returns an error if the object differs from its signed content. Agents and plans reject
// such an object.
func (r *File) agrees(release artifact.Release) error {
	if r.kubernetes == "" || release.Payload.Kubernetes == "" || r.kubernetes == release.Payload.Kubernetes {
		return nil
	}
	return fmt.Errorf("spec.kubernetes is %q, but the signed content has %q", r.kubernetes, release.Payload.Kubernetes)
}
