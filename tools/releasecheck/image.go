package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// checkImages checks that each image has the platforms and binaries of the archives.
func (r release) checkImages(binaries map[product][]byte) error {
	for _, name := range hostBinaries {
		want := map[string][]byte{}
		for p, content := range binaries {
			if p.name == name {
				want[p.arch] = content
			}
		}
		if len(want) == 0 {
			continue
		}
		if err := checkImage(filepath.Join(r.dir, r.image(name)), name, want); err != nil {
			return fmt.Errorf("%s: %w", r.image(name), err)
		}
	}
	return nil
}

// checkImage compares the platforms of an image with binaries by architecture.
func checkImage(archive, name string, want map[string][]byte) error {
	dir, err := os.MkdirTemp("", "releasecheck-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	index, err := indexOf(archive, dir)
	if err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	if len(manifest.Manifests) != len(want) {
		return fmt.Errorf("it has %d platforms, want %d", len(manifest.Manifests), len(want))
	}
	for _, entry := range manifest.Manifests {
		if entry.Platform == nil || entry.Platform.OS != "linux" || want[entry.Platform.Architecture] == nil {
			return fmt.Errorf("it has the platform %v", entry.Platform)
		}
		image, err := index.Image(entry.Digest)
		if err != nil {
			return err
		}
		got, err := fileOf(image, name)
		if err != nil {
			return fmt.Errorf("%s: %w", entry.Platform, err)
		}
		if !bytes.Equal(got, want[entry.Platform.Architecture]) {
			return fmt.Errorf("%s: its binary differs from that of the archive", entry.Platform)
		}
	}
	return nil
}

// indexOf unpacks the archive of an image to a directory and returns its index.
func indexOf(archive, dir string) (v1.ImageIndex, error) {
	in, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for files := tar.NewReader(in); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		content, err := bounded(files)
		if err != nil {
			return nil, err
		}
		if err := root.MkdirAll(filepath.Dir(header.Name), 0o755); err != nil {
			return nil, err
		}
		if err := root.WriteFile(header.Name, content, 0o644); err != nil {
			return nil, err
		}
	}
	outer, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, err
	}
	manifest, err := outer.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("it has %d images", len(manifest.Manifests))
	}
	return outer.ImageIndex(manifest.Manifests[0].Digest)
}

// fileOf returns a file of an image.
func fileOf(image v1.Image, name string) ([]byte, error) {
	content := mutate.Extract(image)
	defer content.Close()
	for files := tar.NewReader(content); ; {
		header, err := files.Next()
		if err != nil {
			return nil, fmt.Errorf("cannot find %s: %w", name, err)
		}
		if header.Name == name {
			return bounded(files)
		}
	}
}
