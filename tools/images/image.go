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

// nobody is the user of every image. A pod that needs another says so.
const nobody = "65532:65532"

// write makes the archive of an image that has one program, which it runs.
func write(archive, image, called, program string) error {
	tag, err := name.NewTag(image, name.StrictValidation)
	if err != nil {
		return err
	}
	arch, err := platformOf(program)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(program)
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
	made, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	config, err := made.ConfigFile()
	if err != nil {
		return err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", arch
	config.Config = v1.Config{Entrypoint: []string{"/" + called}, User: nobody}
	if made, err = mutate.ConfigFile(made, config); err != nil {
		return err
	}
	return tarball.WriteToFile(archive, tag, made)
}

// layerOf is a file system with nothing but a program, and users that have names.
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

// architectures are those that are built, as Go names them.
var architectures = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}

var errDynamic = errors.New("it needs a loader and libraries, which an image of it alone does not have: build it with CGO_ENABLED=0")

// platformOf asks a program what it runs on.
func platformOf(program string) (string, error) {
	file, err := elf.Open(program)
	if err != nil {
		return "", fmt.Errorf("%s is no program for Linux: %w", program, err)
	}
	defer file.Close()
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			return "", fmt.Errorf("%s: %w", program, errDynamic)
		}
	}
	arch, known := architectures[file.Machine]
	if !known {
		return "", fmt.Errorf("%s is for %s, for which no image is made", program, file.Machine)
	}
	return arch, nil
}
