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

// newProgram is a file that says of itself that it is a program for a machine, with parts of some types.
func newProgram(t *testing.T, machine elf.Machine, parts ...elf.ProgType) string {
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
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, out.Bytes(), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAnArchiveHoldsTheProgramAndRunsIt(t *testing.T) {
	for machine, arch := range architectures {
		program, to := newProgram(t, machine, elf.PT_LOAD), t.TempDir()
		if err := run("ghcr.io/refit-dev", "v1", to, []string{"refit-agent=" + program}); err != nil {
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
		files, want := filesOf(t, image), read(t, program)
		if !bytes.Equal(files["refit-agent"], want) || !strings.Contains(string(files["etc/passwd"]), "nonroot") {
			t.Error("the program is not in it as it was")
		}
		again := t.TempDir()
		if err := run("ghcr.io/refit-dev", "v1", again, []string{"refit-agent=" + program}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(read(t, archive), read(t, filepath.Join(again, "refit-agent.tar"))) {
			t.Error("the same program made another archive")
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
			t.Errorf("its mode is %o", header.Mode)
		}
	}
}

func TestWhatNoImageIsMadeOf(t *testing.T) {
	text := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(text, []byte("#!/bin/true\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tag   string
		pairs []string
		says  string
	}{
		"no tag":         {"", []string{"a=b"}, "-tag"},
		"no program":     {"v1", nil, "NAME=PROGRAM"},
		"no name":        {"v1", []string{"=x"}, "NAME=PROGRAM"},
		"a script":       {"v1", []string{"a=" + text}, "no program for Linux"},
		"a bad tag":      {"v 1", []string{"a=" + text}, "tag"},
		"a dynamic one":  {"v1", []string{"a=" + newProgram(t, elf.EM_X86_64, elf.PT_LOAD, elf.PT_INTERP)}, errDynamic.Error()},
		"another system": {"v1", []string{"a=" + newProgram(t, elf.EM_RISCV)}, "no image is made"},
	} {
		if err := run("ghcr.io/refit-dev", c.tag, t.TempDir(), c.pairs); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
