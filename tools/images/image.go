package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// nobody is the default user of every image.
const nobody = "65532:65532"

// write writes the archive of an image with one binary as its entrypoint.
func write(archive, image, called, binary string) error {
	tag, err := name.NewTag(image, name.StrictValidation)
	if err != nil {
		return err
	}
	arch, err := platformOf(binary)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	text, err := layerOf(called, content)
	if err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
	if err != nil {
		return err
	}
	built, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	config, err := built.ConfigFile()
	if err != nil {
		return err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", arch
	config.Config = v1.Config{Entrypoint: []string{"/" + called}, User: nobody}
	if built, err = mutate.ConfigFile(built, config); err != nil {
		return err
	}
	return tarball.WriteToFile(archive, tag, built)
}

// layerOf returns a file system with a binary and named users.
func layerOf(called string, content []byte) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, file := range []struct {
		name    string
		mode    int64
		content []byte
	}{
		{"etc/", 0o755, nil},
		{"etc/group", 0o644, []byte("root:x:0:\nnonroot:x:65532:\n")},
		{"etc/passwd", 0o644, []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		{called, 0o755, content},
	} {
		header := &tar.Header{Name: file.name, Mode: file.mode, Size: int64(len(file.content)), Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if file.content == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(file.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// architectures are the supported ones, with their Go names.
var architectures = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}

var errDynamic = errors.New("the binary is dynamically linked: build it with CGO_ENABLED=0")

// platformOf returns the architecture of a binary.
func platformOf(binary string) (string, error) {
	file, err := elf.Open(binary)
	if err != nil {
		return "", fmt.Errorf("%s is not a Linux binary: %w", binary, err)
	}
	defer file.Close()
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			return "", fmt.Errorf("%s: %w", binary, errDynamic)
		}
	}
	arch, known := architectures[file.Machine]
	if !known {
		return "", fmt.Errorf("%s has the unsupported architecture %s", binary, file.Machine)
	}
	return arch, nil
}
