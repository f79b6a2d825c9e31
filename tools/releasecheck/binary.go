package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// checkBinary checks the format and the machine of a binary, and how it was built.
func checkBinary(p product, content []byte) (*debug.BuildInfo, error) {
	machine, err := machineOf(p.os, content)
	if err != nil {
		return nil, fmt.Errorf("not a binary for %s: %w", p.os, err)
	}
	if want := machines[p.platform]; machine != want {
		return nil, fmt.Errorf("it is for the machine %s, want %s", machine, want)
	}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	for key, want := range map[string]string{"GOOS": p.os, "GOARCH": p.arch, "CGO_ENABLED": "0", "-trimpath": "true"} {
		if settings[key] != want {
			return nil, fmt.Errorf("it was built with %s=%s, want %s", key, settings[key], want)
		}
	}
	if p.name == cli && !slices.Contains(strings.Split(settings["-tags"], ","), "web") {
		return nil, errors.New("it was built without the pages of refit serve: the tag web is missing")
	}
	return info, nil
}

// machines are the names of the machines in the formats of the platforms.
var machines = map[platform]string{
	{"linux", "amd64"}: elf.EM_X86_64.String(), {"linux", "arm64"}: elf.EM_AARCH64.String(),
	{"darwin", "amd64"}: macho.CpuAmd64.String(), {"darwin", "arm64"}: macho.CpuArm64.String(),
	{"windows", "amd64"}: fmt.Sprintf("%#x", pe.IMAGE_FILE_MACHINE_AMD64), {"windows", "arm64"}: fmt.Sprintf("%#x", pe.IMAGE_FILE_MACHINE_ARM64),
}

// machineOf returns the machine of a binary in the format of a system.
func machineOf(system string, content []byte) (string, error) {
	in := bytes.NewReader(content)
	switch system {
	case "linux":
		file, err := elf.NewFile(in)
		if err != nil {
			return "", err
		}
		for _, part := range file.Progs {
			if part.Type == elf.PT_INTERP {
				return "", errors.New("it is dynamically linked")
			}
		}
		return file.Machine.String(), nil
	case "darwin":
		file, err := macho.NewFile(in)
		if err != nil {
			return "", err
		}
		return file.Cpu.String(), nil
	case "windows":
		file, err := pe.NewFile(in)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%#x", file.Machine), nil
	}
	return "", fmt.Errorf("the format of %s is unknown", system)
}

// timeout bounds each binary that is executed.
const timeout = time.Minute

// runs executes the binary of this platform, which must report the version of the release. The
// controller and refit-components do nothing without a cluster.
func (r release) runs(ctx context.Context, p product, content []byte) error {
	if (p.platform != platform{runtime.GOOS, runtime.GOARCH}) || p.name == "refit-controller" || p.name == "refit-components" {
		return nil
	}
	dir, err := os.MkdirTemp("", "releasecheck-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, p.name)
	if err := os.WriteFile(binary, content, 0o755); err != nil {
		return err
	}
	if p.name == cli {
		return r.reports(ctx, binary)
	}
	out, err := execute(ctx, nil, binary, "--version")
	if err != nil {
		return err
	}
	if want := p.name + " version " + r.version; strings.TrimSpace(string(out)) != want {
		return fmt.Errorf("it reports %q, want %q", out, want)
	}
	return nil
}

// reports checks the version that the CLI reports.
func (r release) reports(ctx context.Context, binary string) error {
	out, err := execute(ctx, nil, binary, "version", "-o", "json")
	if err != nil {
		return err
	}
	var got struct{ Version, Platform string }
	if err := json.Unmarshal(out, &got); err != nil {
		return fmt.Errorf("it reports %q: %w", out, err)
	}
	if got.Version != r.version || got.Platform != runtime.GOOS+"/"+runtime.GOARCH {
		return fmt.Errorf("it reports %+v, want the version %s", got, r.version)
	}
	return nil
}

// execute runs a binary and returns its output.
func execute(ctx context.Context, environment []string, binary string, arguments ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, arguments...)
	cmd.Env = append(os.Environ(), environment...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", filepath.Base(binary), strings.Join(arguments, " "), err, problems.String())
	}
	return out.Bytes(), nil
}
