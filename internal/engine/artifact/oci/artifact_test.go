package oci

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// A layer is not read if its descriptor is not acceptable.
func TestLayersThatAreNotRead(t *testing.T) {
	for want, change := range map[string]func(layer *ocispec.Descriptor){
		"has 0 bytes":                   func(layer *ocispec.Descriptor) { layer.Size = 0 },
		"has -1 bytes":                  func(layer *ocispec.Descriptor) { layer.Size = -1 },
		"has 1048577 bytes":             func(layer *ocispec.Descriptor) { layer.Size = maxRelease + 1 },
		"no digest of sha256":           func(layer *ocispec.Descriptor) { layer.Digest = digest.SHA512.FromString("x") },
		"layer has no digest of":        func(layer *ocispec.Descriptor) { layer.Digest = "sha256:../../x" },
		"its layer is a \"text/plain\"": func(layer *ocispec.Descriptor) { layer.MediaType = "text/plain" },
		"is not in the registry":        func(layer *ocispec.Descriptor) { layer.URLs = []string{"https://elsewhere.example"} },
	} {
		raw, _, err := releases.manifestOf(Document{Title: "x.yaml", Version: "v1.36.3", Text: []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		var manifest ocispec.Manifest
		if err := json.Unmarshal(raw, &manifest); err != nil {
			t.Fatal(err)
		}
		if err := releases.check(manifest.MediaType, &manifest); err != nil {
			t.Fatal(err)
		}
		change(&manifest.Layers[0])
		if err := releases.check(manifest.MediaType, &manifest); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
