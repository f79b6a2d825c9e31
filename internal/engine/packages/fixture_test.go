package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// host is a dpkg database and a root of its own, with a driver for them.
type host struct {
	*testing.T
	deb
	debs string
}

// newHost creates an empty host, in parallel with other tests.
func newHost(t *testing.T) *host {
	t.Helper()
	t.Parallel()
	return newSerialHost(t)
}

func newSerialHost(t *testing.T) *host {
	t.Helper()
	for _, binary := range []string{"dpkg", "dpkg-deb", "dpkg-query"} {
		if _, err := exec.LookPath(binary); err != nil {
			t.Skipf("%s is not installed", binary)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("dpkg installs only as root")
	}
	dir := t.TempDir()
	h := &host{T: t, debs: filepath.Join(dir, "debs")}
	h.deb = deb{root: filepath.Join(dir, "root"), admin: filepath.Join(dir, "root/var/lib/dpkg"), archives: filepath.Join(dir, "archives"), lockTimeout: 5 * time.Second}
	h.flags = []string{
		"--instdir=" + h.root, "--admindir=" + h.admin, "--log=" + filepath.Join(dir, "log"), "--force-script-chrootless",
	}
	for _, d := range []string{h.debs, h.archives, h.admin + "/info", h.admin + "/updates", h.admin + "/triggers"} {
		h.must(os.MkdirAll(d, 0o755))
	}
	h.write(filepath.Join(h.admin, "status"), "")
	h.write(filepath.Join(h.admin, "available"), "")
	return h
}

func (h *host) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *host) write(path, text string) {
	h.Helper()
	h.must(os.MkdirAll(filepath.Dir(path), 0o755))
	h.must(os.WriteFile(path, []byte(text), 0o644))
}

func (h *host) read(path string) string {
	h.Helper()
	text, err := os.ReadFile(filepath.Join(h.root, path))
	h.must(err)
	return string(text)
}

// part is one file of a package. A control file has no slash.
type part struct{ path, text string }

// pack builds a small package: a binary, a configuration file, a unit, a link, a directory, and
// more.
func (h *host) pack(name, version string, more ...part) string {
	h.Helper()
	tree := h.TempDir()
	parts := append([]part{
		{"control", fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: A <a@example.invalid>\nDescription: a test\n of packages\n", name, version)},
		{"conffiles", "/etc/" + name + ".conf\n"},
		{"/usr/bin/" + name, "#!/bin/sh\necho " + version + "\n"},
		{"/etc/" + name + ".conf", "version " + version + "\n"},
		{"/lib/systemd/system/" + name + ".service", "[Service]\n"},
	}, more...)
	for _, p := range parts {
		to, mode := filepath.Join(tree, p.path), os.FileMode(0o644)
		if !strings.Contains(p.path, "/") {
			to = filepath.Join(tree, "DEBIAN", p.path)
		}
		if strings.HasPrefix(p.text, "#!") {
			mode = 0o755
		}
		h.write(to, p.text)
		h.must(os.Chmod(to, mode))
	}
	h.must(os.MkdirAll(filepath.Join(tree, "var/lib", name), 0o750))
	h.must(os.Symlink(name, filepath.Join(tree, "usr/bin", name+"-link")))
	file := filepath.Join(h.debs, fmt.Sprintf("%s_%s_all.deb", name, version))
	if out, err := exec.CommandContext(h.Context(), "dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, file).CombinedOutput(); err != nil {
		h.Fatalf("%v: %s", err, out)
	}
	return file
}

func (h *host) install(files ...string) {
	h.Helper()
	h.must(h.Install(h.Context(), files, Options{}))
}

// at requires that packages are installed at these versions, and that dpkg --audit reports nothing.
func (h *host) at(versions map[string]string) {
	h.Helper()
	for name, want := range versions {
		got, err := h.Installed(h.Context(), name)
		h.must(err)
		if got[name] != want {
			h.Errorf("%s is at %q, want %q", name, got[name], want)
		}
		problems, err := h.Verify(h.Context(), []string{name})
		h.must(err)
		if want != "" && len(problems) > 0 {
			h.Errorf("problems: %v", problems)
		}
	}
	out, err := exec.CommandContext(h.Context(), "dpkg", append(slices.Clone(h.flags), "--audit")...).CombinedOutput()
	if err != nil || len(out) > 0 {
		h.Errorf("dpkg --audit: %v: %s", err, out)
	}
}
