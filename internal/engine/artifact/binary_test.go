package artifact

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// header is an ELF file without code.
func header(t *testing.T, change func(h *elf.Header64)) string {
	t.Helper()
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Ehsize: 64, Phentsize: 56, Shentsize: 64}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	if change != nil {
		change(&h)
	}
	var out bytes.Buffer
	if err := binary.Write(&out, binary.LittleEndian, h); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "binary")
	write(t, path, out.String(), 0o755)
	return path
}

// program builds a binary that prints a text.
func program(t *testing.T, text string) string {
	t.Helper()
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "p.c"), "#include <stdio.h>\nint main(void) { puts(\""+text+"\"); return 0; }\n", 0o644)
	out, err := exec.Command(compiler, "-o", filepath.Join(dir, "p"), filepath.Join(dir, "p.c")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "p")
}

func binaryFile(name, version string) refitv1alpha1.ReleaseFile {
	part, _ := PartOfBinary(name)
	return refitv1alpha1.ReleaseFile{Part: part, Name: name, Kind: refitv1alpha1.PackageBinary, OS: "linux", Arch: runtime.GOARCH, Version: version}
}

// F26: the digest matches, but the file is the wrong one.
func TestBinaryOfAnotherPlatformIsNotRun(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the test requires amd64")
	}
	for name, path := range map[string]string{
		"arm64":       header(t, func(h *elf.Header64) { h.Machine = uint16(elf.EM_AARCH64) }),
		"FreeBSD":     header(t, func(h *elf.Header64) { h.Ident[elf.EI_OSABI] = byte(elf.ELFOSABI_FREEBSD) }),
		"no machine":  header(t, func(h *elf.Header64) { h.Machine = 0 }),
		"a library":   header(t, func(h *elf.Header64) { h.Type = uint16(elf.ET_REL) }),
		"a core dump": header(t, func(h *elf.Header64) { h.Type = uint16(elf.ET_CORE) }),
		"a shell script": func() string {
			path := filepath.Join(t.TempDir(), "x")
			write(t, path, "#!/bin/sh\necho Kubernetes v1.36.3\n", 0o755)
			return path
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			if err := CheckBinary(t.Context(), path, binaryFile("kubelet", "v1.36.3")); reasonOf(err) != "WrongPlatform" {
				t.Errorf("%v (%s)", err, reasonOf(err))
			}
		})
	}
	file := binaryFile("kubelet", "v1.36.3")
	file.Arch = "arm64"
	if err := CheckBinary(t.Context(), header(t, func(h *elf.Header64) { h.Machine = uint16(elf.EM_AARCH64) }), file); reasonOf(err) != "WrongPlatform" {
		t.Errorf("a binary as in the ClusterRelease, but not for this host: %v", err)
	}
	if err := CheckBinary(t.Context(), header(t, nil), binaryFile("kubelet", "v1.36.3")); reasonOf(err) != "ProgramCannotRun" {
		t.Errorf("a binary without code: %v", err)
	}
}

func TestBinaryOfAnotherVersionIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ name, output, version, reason string }{
		"kubelet":                       {"kubelet", "Kubernetes v1.36.3", "v1.36.3", ""},
		"former kubelet":                {"kubelet", "Kubernetes v1.36.2", "v1.36.3", "WrongVersion"},
		"kubelet, pre-release":          {"kubelet", "Kubernetes v1.36.3-rc.0", "v1.36.3", "WrongVersion"},
		"something else":                {"kubelet", "hello", "v1.36.3", "WrongVersion"},
		"kubeadm":                       {"kubeadm", "v1.36.3", "v1.36.3", ""},
		"containerd":                    {"containerd", "containerd github.com/containerd/containerd/v2 v2.4.2 abc", "v2.4.2", ""},
		"containerd of Debian":          {"containerd", "containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1", "1.6.20~ds1", ""},
		"runc":                          {"runc", `runc version 1.1.5+ds1\ncommit: x`, "1.1.5+ds1", ""},
		"kubectl":                       {"kubectl", `{\n  \"clientVersion\": {\n \"gitVersion\": \"v1.36.3\",\n`, "v1.36.3", ""},
		"plugin":                        {"bridge", "CNI bridge plugin v1.9.1", "v1.9.1", ""},
		"former plugin":                 {"bridge", "CNI bridge plugin v1.8.0", "v1.9.1", "WrongVersion"},
		"plugin without version":        {"bridge", "CNI bridge plugin version unknown", "v1.9.1", ""},
		"plugin with the former output": {"bridge", "CNI bridge plugin version v1.9.1", "v1.9.1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckBinary(t.Context(), program(t, c.output), binaryFile(c.name, c.version))
			if reasonOf(err) != c.reason || (err == nil) != (c.reason == "") {
				t.Errorf("%v (%s), want %q", err, reasonOf(err), c.reason)
			}
		})
	}
}

func TestBinaryDoesNotGetTheEnvironmentOfTheAgent(t *testing.T) {
	t.Setenv("CNI_COMMAND", "ADD")
	t.Setenv("SECRET", "hunter2")
	env, err := exec.LookPath("env")
	if err != nil {
		t.Skip("env is not installed")
	}
	output, err := run(t.Context(), env)
	if err != nil || strings.Contains(string(output), "hunter2") || strings.Contains(string(output), "CNI_COMMAND") {
		t.Errorf("%s %v", output, err)
	}
}

func TestOutputOfABinaryIsBounded(t *testing.T) {
	path, err := exec.LookPath("seq")
	if err != nil {
		t.Skip("seq is not installed")
	}
	if output, err := run(t.Context(), path, "1", "1000000"); err != nil || len(output) != maxOutput {
		t.Errorf("%d bytes, %v", len(output), err)
	}
}

// The binaries of the testbed, if they are built.
func TestRealBinaries(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	cache := filepath.Join(home, ".cache/refit-testbed")
	found := 0
	for pattern, version := range map[string]string{
		"kubernetes/v1.36.3-*/bin/kubeadm": "v1.36.3", "kubernetes/v1.36.3-*/bin/kubelet": "v1.36.3", "kubernetes/v1.36.3-*/bin/kubectl": "v1.36.3",
		"containerd/v2.4.2-*/bin/containerd": "v2.4.2", "containerd/v2.4.2-*/bin/ctr": "v2.4.2", "containerd/v2.4.2-*/bin/containerd-shim-runc-v2": "v2.4.2",
		"cni-plugins/v1.9.1-*/bin/host-local": "v1.9.1",
	} {
		paths, _ := filepath.Glob(filepath.Join(cache, pattern))
		for _, path := range paths {
			found++
			if err := CheckBinary(t.Context(), path, binaryFile(filepath.Base(path), version)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if err := CheckBinary(t.Context(), path, binaryFile(filepath.Base(path), "v0.0.1")); reasonOf(err) != "WrongVersion" {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if found == 0 {
		t.Skip("the testbed has built no binaries")
	}
}

func TestPackageOfAnotherNameVersionOrPlatformIsRefused(t *testing.T) {
	builder, err := exec.LookPath("dpkg-deb")
	if err != nil {
		t.Skip("dpkg-deb is not installed")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "p/DEBIAN/control"), "Package: kubelet\nVersion: 1.36.3-1.1\nArchitecture: amd64\nMaintainer: x <x@example.com>\nDescription: x\n", 0o644)
	deb := filepath.Join(dir, "kubelet.deb")
	if out, err := exec.Command(builder, "--root-owner-group", "--build", filepath.Join(dir, "p"), deb).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	garbage := filepath.Join(dir, "garbage.deb")
	write(t, garbage, "!<arch>\nhello", 0o644)
	good := refitv1alpha1.ReleaseFile{
		Part: refitv1alpha1.PartKubelet, Name: "kubelet", Kind: refitv1alpha1.PackageDeb, OS: "linux", Arch: "amd64", Version: "1.36.3-1.1",
	}
	for name, c := range map[string]struct {
		path   string
		change func(f *refitv1alpha1.ReleaseFile)
		reason string
	}{
		"the right one":   {deb, func(*refitv1alpha1.ReleaseFile) {}, ""},
		"another name":    {deb, func(f *refitv1alpha1.ReleaseFile) { f.Name = "kubeadm" }, "WrongPackage"},
		"another version": {deb, func(f *refitv1alpha1.ReleaseFile) { f.Version = "1.36.3-1.2" }, "WrongVersion"},
		"another machine": {deb, func(f *refitv1alpha1.ReleaseFile) { f.Arch = "arm64" }, "WrongPlatform"},
		"garbage":         {garbage, func(*refitv1alpha1.ReleaseFile) {}, "WrongPackage"},
		"unknown kind":    {deb, func(f *refitv1alpha1.ReleaseFile) { f.Kind = "Snap" }, "KindUnknown"},
	} {
		t.Run(name, func(t *testing.T) {
			f := good
			c.change(&f)
			if err := CheckBinary(t.Context(), c.path, f); reasonOf(err) != c.reason || (err == nil) != (c.reason == "") {
				t.Errorf("%v (%s), want %q", err, reasonOf(err), c.reason)
			}
		})
	}
}

func TestRpmOfAnotherNameVersionOrPlatformIsRefused(t *testing.T) {
	if _, err := exec.LookPath("rpmbuild"); err != nil {
		t.Skip("rpmbuild is not installed")
	}
	dir := t.TempDir()
	spec := filepath.Join(dir, "kubelet.spec")
	write(t, spec, "Name: kubelet\nVersion: 1.36.3\nRelease: 150500.1.1\nSummary: x\nLicense: x\n%description\nx\n%files\n", 0o644)
	cmd := exec.Command("rpmbuild", "-bb", "--target", "x86_64-linux", "--define", "_topdir "+dir, spec)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rpm := filepath.Join(dir, "RPMS/x86_64/kubelet-1.36.3-150500.1.1.x86_64.rpm")
	garbage := filepath.Join(dir, "garbage.rpm")
	write(t, garbage, "\xed\xab\xee\xdb hello", 0o644)
	good := refitv1alpha1.ReleaseFile{
		Part: refitv1alpha1.PartKubelet, Name: "kubelet", Kind: refitv1alpha1.PackageRpm, OS: "linux", Arch: "amd64", Version: "1.36.3-150500.1.1",
	}
	for name, c := range map[string]struct {
		path   string
		change func(f *refitv1alpha1.ReleaseFile)
		reason string
	}{
		"the right one":   {rpm, func(*refitv1alpha1.ReleaseFile) {}, ""},
		"another name":    {rpm, func(f *refitv1alpha1.ReleaseFile) { f.Name = "kubeadm" }, "WrongPackage"},
		"another version": {rpm, func(f *refitv1alpha1.ReleaseFile) { f.Version = "1.36.3-150500.1.2" }, "WrongVersion"},
		"another machine": {rpm, func(f *refitv1alpha1.ReleaseFile) { f.Arch = "arm64" }, "WrongPlatform"},
		"garbage":         {garbage, func(*refitv1alpha1.ReleaseFile) {}, "WrongPackage"},
	} {
		t.Run(name, func(t *testing.T) {
			f := good
			c.change(&f)
			if err := CheckBinary(t.Context(), c.path, f); reasonOf(err) != c.reason || (err == nil) != (c.reason == "") {
				t.Errorf("%v (%s), want %q", err, reasonOf(err), c.reason)
			}
		})
	}
}
