package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/refit-dev/refit/internal/engine/artifact"
)

// kind is a kind of artifact: one layer, with annotations that describe it.
type kind struct {
	name            string
	artifact, layer string // media types
	maxSize         int64
	maxCharts       int
}

// chartLayer is the media type that Helm uses for charts.
const chartLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

var (
	releases = kind{
		"ClusterRelease", "application/vnd.refit.clusterrelease.v1alpha1", "application/vnd.refit.clusterrelease.v1alpha1+yaml", maxRelease, maxCharts,
	}
	keys = kind{"release key", "application/vnd.refit.releasekey.v1alpha1", "application/vnd.refit.releasekey.v1alpha1+pem", maxKey, 0}
)

// ErrExists is returned for a tag that has other content already.
var ErrExists = errors.New("the tag has other content already")

// Document is the layer of an artifact, with its annotations.
type Document struct {
	// Title is the name of the file, and Version the version of Kubernetes, empty for a key.
	Title, Version string
	Text           []byte
	// Charts are the charts of the components of a ClusterRelease, in further layers.
	Charts [][]byte
}

// manifestOf returns the manifest of an artifact, and its layers. Equal documents give equal bytes.
func (k kind) manifestOf(d Document) ([]byte, []ocispec.Descriptor, error) {
	layer := content.NewDescriptorFromBytes(k.layer, d.Text)
	if layer.Size > k.maxSize {
		return nil, nil, fmt.Errorf("a %s of %d bytes is too large: the maximum is %d", k.name, layer.Size, k.maxSize)
	}
	if len(d.Charts) > k.maxCharts {
		return nil, nil, fmt.Errorf("a %s with %d charts is too large: the maximum is %d", k.name, len(d.Charts), k.maxCharts)
	}
	layer.Annotations = map[string]string{ocispec.AnnotationTitle: d.Title}
	layers := []ocispec.Descriptor{layer}
	for _, chart := range d.Charts {
		layers = append(layers, content.NewDescriptorFromBytes(chartLayer, chart))
	}
	annotations := map[string]string{ocispec.AnnotationTitle: d.Title}
	if d.Version != "" {
		annotations[ocispec.AnnotationVersion] = d.Version
	}
	raw, err := json.Marshal(ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, ArtifactType: k.artifact,
		Config: ocispec.DescriptorEmptyJSON, Layers: layers, Annotations: annotations,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("cannot encode the artifact: %w", err)
	}
	return raw, layers, nil
}

// push pushes an artifact to a tag, and returns its digest. A tag that exists is never moved.
func (k kind) push(ctx context.Context, to *remote.Repository, tag string, d Document) (string, error) {
	raw, layers, err := k.manifestOf(d)
	if err != nil {
		return "", err
	}
	manifest := content.NewDescriptorFromBytes(ocispec.MediaTypeImageManifest, raw)
	switch found, err := to.Resolve(ctx, tag); {
	case err == nil && found.Digest == manifest.Digest:
		return string(manifest.Digest), nil
	case err == nil:
		return "", ErrExists
	case !errors.Is(err, errdef.ErrNotFound):
		return "", err
	}
	for i, text := range append([][]byte{d.Text}, d.Charts...) {
		if err := pushBlob(ctx, to, layers[i], text); err != nil {
			return "", err
		}
	}
	if err := pushBlob(ctx, to, ocispec.DescriptorEmptyJSON, ocispec.DescriptorEmptyJSON.Data); err != nil {
		return "", err
	}
	return string(manifest.Digest), to.Manifests().PushReference(ctx, manifest, bytes.NewReader(raw), tag)
}

func pushBlob(ctx context.Context, to *remote.Repository, described ocispec.Descriptor, text []byte) error {
	there, err := to.Blobs().Exists(ctx, described)
	if err != nil || there {
		return err
	}
	return to.Blobs().Push(ctx, described, bytes.NewReader(text))
}

// pull returns an artifact and its digest. It verifies all digests, and reads at most the permitted
// size.
func (k kind) pull(ctx context.Context, from *remote.Repository, at Reference) (Document, string, error) {
	described, raw, err := oras.FetchBytes(ctx, from, at.at.Reference, oras.FetchBytesOptions{MaxBytes: maxManifest})
	if err != nil {
		return Document{}, "", err
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return Document{}, "", fmt.Errorf("cannot parse the manifest: %w", err)
	}
	if err := k.check(described.MediaType, &manifest); err != nil {
		return Document{}, "", err
	}
	text, err := content.FetchAll(ctx, from.Blobs(), manifest.Layers[0])
	if err != nil {
		return Document{}, "", err
	}
	d := Document{Title: manifest.Annotations[ocispec.AnnotationTitle], Version: manifest.Annotations[ocispec.AnnotationVersion], Text: text}
	for _, layer := range manifest.Layers[1:] {
		chart, err := content.FetchAll(ctx, from.Blobs(), layer)
		if err != nil {
			return Document{}, "", err
		}
		d.Charts = append(d.Charts, chart)
	}
	return d, string(described.Digest), nil
}

// check rejects what is not an artifact of this kind.
func (k kind) check(mediaType string, m *ocispec.Manifest) error {
	switch {
	case mediaType != ocispec.MediaTypeImageManifest || m.MediaType != mediaType || m.SchemaVersion != 2:
		return fmt.Errorf("it is a %q, not an OCI artifact", mediaType)
	case m.ArtifactType != k.artifact:
		return fmt.Errorf("it is a %q, not a %s (%s)", m.ArtifactType, k.name, k.artifact)
	case m.Config.Digest != ocispec.DescriptorEmptyJSON.Digest || m.Config.MediaType != ocispec.MediaTypeEmptyJSON || m.Subject != nil:
		return fmt.Errorf("it has a configuration or a subject, which a %s does not have", k.name)
	case len(m.Layers) == 0 || len(m.Layers) > 1+k.maxCharts:
		return fmt.Errorf("it has %d layers, but a %s has one, and at most %d for charts", len(m.Layers), k.name, k.maxCharts)
	}
	if err := checkLayer(m.Layers[0], k.name, k.layer, k.maxSize); err != nil {
		return err
	}
	for _, layer := range m.Layers[1:] {
		if err := checkLayer(layer, "chart", chartLayer, artifact.MaxChart); err != nil {
			return err
		}
	}
	return nil
}

func checkLayer(layer ocispec.Descriptor, name, mediaType string, maxSize int64) error {
	switch {
	case layer.MediaType != mediaType:
		return fmt.Errorf("its layer is a %q, not a %q", layer.MediaType, mediaType)
	case layer.Size <= 0 || layer.Size > maxSize:
		return fmt.Errorf("its layer has %d bytes, but a %s has at most %d", layer.Size, name, maxSize)
	case layer.Digest.Validate() != nil || layer.Digest.Algorithm() != digest.SHA256:
		return errors.New("its layer has no digest of sha256")
	case len(layer.Data) > 0 || len(layer.URLs) > 0:
		return errors.New("its layer is not in the registry")
	}
	return nil
}
