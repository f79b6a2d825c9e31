package create

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The limits of an archive and its documents.
const (
	maxDocument = 4 << 20
	maxEntries  = 10_000
	maxDepth    = 4
)

// archive is a tar file with images, in the format of docker save or as an OCI layout.
type archive struct {
	file    *os.File
	entries map[string]entry
}

type entry struct{ offset, size int64 }

// config is the used part of an image configuration.
type config struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
}

// descriptor is an OCI descriptor.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Annotations map[string]string `json:"annotations"`
	Platform    *config           `json:"platform"`
}

// document is an OCI index or manifest.
type document struct {
	Manifests []descriptor `json:"manifests"`
	Config    *descriptor  `json:"config"`
}

// readArchive lists the images of an archive under all of their names.
func readArchive(path string) ([]refitv1alpha1.ReleaseImage, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	a := &archive{file: file, entries: map[string]entry{}}
	if err := a.index(); err != nil {
		return nil, fmt.Errorf("cannot read the archive: %w", err)
	}
	switch {
	case a.has("manifest.json"):
		return a.dockerImages()
	case a.has("index.json"):
		return a.ociImages()
	}
	return nil, nil
}

// index records the offset of each entry, so that layers are not read.
func (a *archive) index() error {
	reader := tar.NewReader(a.file)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(a.entries) > maxEntries {
			return nil // a file system, not an image
		}
		offset, err := a.file.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		if header.Typeflag == tar.TypeReg {
			a.entries[path.Clean(header.Name)] = entry{offset, header.Size}
		}
	}
}

func (a *archive) has(name string) bool { _, ok := a.entries[name]; return ok }

func (a *archive) read(name string) ([]byte, error) {
	e, ok := a.entries[path.Clean(name)]
	if !ok || e.size > maxDocument {
		return nil, fmt.Errorf("%s is missing or too large", name)
	}
	out := make([]byte, e.size)
	if _, err := a.file.ReadAt(out, e.offset); err != nil {
		return nil, err
	}
	return out, nil
}

func (a *archive) dockerImages() ([]refitv1alpha1.ReleaseImage, error) {
	raw, err := a.read("manifest.json")
	if err != nil {
		return nil, err
	}
	var manifest []struct {
		Config   string
		RepoTags []string
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		return nil, fmt.Errorf("cannot parse manifest.json: %w", err)
	}
	var out []refitv1alpha1.ReleaseImage
	for _, each := range manifest {
		raw, err := a.read(each.Config)
		if err != nil {
			return nil, err
		}
		images, err := imagesOf(raw, each.RepoTags)
		if err != nil {
			return nil, err
		}
		out = append(out, images...)
	}
	return out, nil
}

// imagesOf returns an image under each of its names. Container runtimes identify it by the digest
// of its configuration.
func imagesOf(raw []byte, names []string) ([]refitv1alpha1.ReleaseImage, error) {
	var c config
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("cannot parse the configuration of an image: %w", err)
	}
	var out []refitv1alpha1.ReleaseImage
	for _, name := range names {
		out = append(out, refitv1alpha1.ReleaseImage{Name: name, OS: c.OS, Arch: c.Architecture, Config: digestOf(raw)})
	}
	return out, nil
}

func (a *archive) ociImages() ([]refitv1alpha1.ReleaseImage, error) {
	raw, err := a.read("index.json")
	if err != nil {
		return nil, err
	}
	var top document
	if err := json.Unmarshal(raw, &top); err != nil {
		return nil, fmt.Errorf("cannot parse index.json: %w", err)
	}
	var out []refitv1alpha1.ReleaseImage
	for _, d := range top.Manifests {
		// containerd writes the full name into the first annotation; the second rarely has a full
		// name.
		name := d.Annotations["io.containerd.image.name"]
		if name == "" {
			name = d.Annotations["org.opencontainers.image.ref.name"]
		}
		if !strings.Contains(name, "/") {
			continue
		}
		images, err := a.follow(d, name, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, images...)
	}
	return out, nil
}

// follow returns the images behind a descriptor. An index may list platforms that the archive does
// not have.
func (a *archive) follow(d descriptor, name string, depth int) ([]refitv1alpha1.ReleaseImage, error) {
	at, ok := strings.CutPrefix(d.Digest, "sha256:")
	if !ok || depth > maxDepth || !a.has("blobs/sha256/"+at) {
		return nil, nil
	}
	raw, err := a.read("blobs/sha256/" + at)
	if err != nil {
		return nil, err
	}
	var next document
	if err := json.Unmarshal(raw, &next); err != nil {
		return nil, fmt.Errorf("cannot parse a manifest: %w", err)
	}
	var out []refitv1alpha1.ReleaseImage
	for _, each := range next.Manifests {
		images, err := a.follow(each, name, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, images...)
	}
	// An attestation, not an image.
	if next.Config == nil || (d.Platform != nil && d.Platform.OS == "unknown") {
		return out, nil
	}
	raw, err = a.read("blobs/sha256/" + strings.TrimPrefix(next.Config.Digest, "sha256:"))
	if err != nil {
		return nil, err
	}
	images, err := imagesOf(raw, []string{name})
	return append(out, images...), err
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}
