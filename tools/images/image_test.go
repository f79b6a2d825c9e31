package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// newBinary returns the path of a minimal ELF file for a machine, with program headers of these
// types.
func newBinary(t *testing.T, machine elf.Machine, parts ...elf.ProgType) string {
	t.Helper()
	var out bytes.Buffer
	header := elf.Header64{
		Ident:   [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:    uint16(elf.ET_EXEC),
		Machine: uint16(machine), Version: uint32(elf.EV_CURRENT), Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: uint16(len(parts)),
	}
	if err := binary.Write(&out, binary.LittleEndian, header); err != nil {
		t.Fatal(err)
	}
	for _, kind := range parts {
		if err := binary.Write(&out, binary.LittleEndian, elf.Prog64{Type: uint32(kind)}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(path, out.Bytes(), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAnImageHasThePlatformsOfItsBinaries(t *testing.T) {
	x86, arm := newBinary(t, elf.EM_X86_64, elf.PT_LOAD), newBinary(t, elf.EM_AARCH64, elf.PT_LOAD)
	for name, c := range map[string]struct {
		list string
		want map[string]string // binaries by architecture
	}{
		"one":  {arm, map[string]string{"arm64": arm}},
		"both": {x86 + "," + arm, map[string]string{"amd64": x86, "arm64": arm}},
	} {
		t.Run(name, func(t *testing.T) {
			to := t.TempDir()
			if err := run("ghcr.io/refit-dev", "v1", to, []string{"refit-agent=" + c.list}); err != nil {
				t.Fatal(err)
			}
			archive := filepath.Join(to, "refit-agent.tar")
			images := imagesOf(t, archive, "ghcr.io/refit-dev/refit-agent:v1")
			if len(images) != len(c.want) {
				t.Fatalf("%d platforms", len(images))
			}
			for arch, binary := range c.want {
				config, err := images[arch].ConfigFile()
				if err != nil {
					t.Fatal(err)
				}
				if config.OS != "linux" || config.Architecture != arch || strings.Join(config.Config.Entrypoint, " ") != "/refit-agent" || config.Config.User != nobody {
					t.Errorf("%+v", config)
				}
				files := filesOf(t, images[arch])
				if !bytes.Equal(files["refit-agent"], read(t, binary)) || !strings.Contains(string(files["etc/passwd"]), "nonroot") {
					t.Error("the binary differs")
				}
			}
			again := t.TempDir()
			if err := run("ghcr.io/refit-dev", "v1", again, []string{"refit-agent=" + c.list}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(read(t, archive), read(t, filepath.Join(again, "refit-agent.tar"))) {
				t.Error("the archive is not reproducible")
			}
		})
	}
}

// imagesOf returns the images of an archive by architecture. Its only index has the name.
func imagesOf(t *testing.T, archive, called string) map[string]v1.Image {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "tar", "--extract", "--file", archive, "--directory", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	outer, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := outer.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["io.containerd.image.name"] != called {
		t.Fatalf("%+v, %v", manifest, err)
	}
	inner, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	platforms, err := inner.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]v1.Image{}
	for _, m := range platforms.Manifests {
		if out[m.Platform.Architecture], err = inner.Image(m.Digest); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func filesOf(t *testing.T, image v1.Image) map[string][]byte {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	out := map[string][]byte{}
	for reader := tar.NewReader(content); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if out[header.Name], err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
		if header.Name == "refit-agent" && header.Mode != 0o755 {
			t.Errorf("the mode is %o", header.Mode)
		}
	}
}

func TestInvalidInput(t *testing.T) {
	text := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(text, []byte("#!/bin/true\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tag   string
		pairs []string
		want  string
	}{
		"no tag":         {"", []string{"a=b"}, "-tag"},
		"no binary":      {"v1", nil, "NAME=BINARY"},
		"no name":        {"v1", []string{"=x"}, "NAME=BINARY"},
		"a script":       {"v1", []string{"a=" + text}, "not a Linux binary"},
		"a bad tag":      {"v 1", []string{"a=" + text}, "tag"},
		"a dynamic one":  {"v1", []string{"a=" + newBinary(t, elf.EM_X86_64, elf.PT_LOAD, elf.PT_INTERP)}, errDynamic.Error()},
		"two of a kind":  {"v1", []string{"a=" + newBinary(t, elf.EM_X86_64) + "," + newBinary(t, elf.EM_X86_64)}, "both for amd64"},
		"half a list":    {"v1", []string{"a=" + text + ","}, "NAME=BINARY"},
		"another system": {"v1", []string{"a=" + newBinary(t, elf.EM_RISCV)}, "unsupported architecture"},
	} {
		if err := run("ghcr.io/refit-dev", c.tag, t.TempDir(), c.pairs); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
