package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
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

func TestArchiveContainsAndRunsTheBinary(t *testing.T) {
	for machine, arch := range architectures {
		path, to := newBinary(t, machine, elf.PT_LOAD), t.TempDir()
		if err := run("ghcr.io/refit-dev", "v1", to, []string{"refit-agent=" + path}); err != nil {
			t.Fatal(err)
		}
		archive := filepath.Join(to, "refit-agent.tar")
		tag, err := name.NewTag("ghcr.io/refit-dev/refit-agent:v1")
		if err != nil {
			t.Fatal(err)
		}
		image, err := tarball.ImageFromPath(archive, &tag)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.OS != "linux" || config.Architecture != arch || strings.Join(config.Config.Entrypoint, " ") != "/refit-agent" || config.Config.User != nobody {
			t.Errorf("%+v", config)
		}
		files, want := filesOf(t, image), read(t, path)
		if !bytes.Equal(files["refit-agent"], want) || !strings.Contains(string(files["etc/passwd"]), "nonroot") {
			t.Error("the binary differs")
		}
		again := t.TempDir()
		if err := run("ghcr.io/refit-dev", "v1", again, []string{"refit-agent=" + path}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(read(t, archive), read(t, filepath.Join(again, "refit-agent.tar"))) {
			t.Error("the archive is not reproducible")
		}
	}
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
		"another system": {"v1", []string{"a=" + newBinary(t, elf.EM_RISCV)}, "unsupported architecture"},
	} {
		if err := run("ghcr.io/refit-dev", c.tag, t.TempDir(), c.pairs); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
