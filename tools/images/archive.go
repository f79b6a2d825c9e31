package main

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// write writes the archive of an image with a platform for each binary.
func write(archive, image, called string, binaries []string) error {
	tag, err := name.NewTag(image, name.StrictValidation)
	if err != nil {
		return err
	}
	index, err := indexOf(called, binaries)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "images-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	to, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	// containerd reads the first name, and other tools the second.
	names := map[string]string{"io.containerd.image.name": tag.Name(), "org.opencontainers.image.ref.name": tag.TagStr()}
	if err := to.AppendIndex(index, layout.WithAnnotations(names)); err != nil {
		return err
	}
	return pack(archive, os.DirFS(dir))
}

// indexOf returns the images of all platforms, each with one binary as its entrypoint.
func indexOf(called string, binaries []string) (v1.ImageIndex, error) {
	index := v1.ImageIndex(empty.Index)
	by := map[string]string{}
	for _, binary := range binaries {
		arch, err := architectureOf(binary)
		if err != nil {
			return nil, err
		}
		if other, is := by[arch]; is {
			return nil, fmt.Errorf("%s and %s are both for %s", other, binary, arch)
		}
		by[arch] = binary
		image, err := imageOf(called, arch, binary)
		if err != nil {
			return nil, err
		}
		platform := &v1.Platform{OS: "linux", Architecture: arch}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	return index, nil
}

// pack writes the files of a directory into an archive, in the order of their names and without
// anything that differs between two builds.
func pack(archive string, dir fs.FS) (err error) {
	out, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	w := tar.NewWriter(out)
	err = fs.WalkDir(dir, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return packFile(w, dir, path)
	})
	if err != nil {
		return err
	}
	return w.Close()
}

func packFile(w *tar.Writer, dir fs.FS, path string) error {
	file, err := dir.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{Name: filepath.ToSlash(path), Mode: 0o644, Size: info.Size(), Typeflag: tar.TypeReg, Format: tar.FormatPAX}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(w, file)
	return err
}
