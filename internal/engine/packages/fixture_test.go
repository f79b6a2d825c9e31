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

// fixture is a package manager with a root of its own.
type fixture struct {
	*testing.T
	driver func() Driver // with the settings of this moment
	disk   string
}

// newFixture skips the test where a binary that it needs is missing.
func newFixture(t *testing.T, binaries ...string) fixture {
	t.Helper()
	for _, binary := range binaries {
		if _, err := exec.LookPath(binary); err != nil {
			t.Skipf("%s is not installed", binary)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("packages are installed only by root")
	}
	f := fixture{T: t, disk: filepath.Join(t.TempDir(), "root")}
	f.must(os.MkdirAll(f.disk, 0o755))
	return f
}

func (f fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("%v\n%s", err, logOf(err))
	}
}

// write writes a file below the root.
func (f fixture) write(path, text string) {
	f.Helper()
	path = filepath.Join(f.disk, path)
	f.must(os.MkdirAll(filepath.Dir(path), 0o755))
	f.must(os.WriteFile(path, []byte(text), 0o644))
}

func (f fixture) read(path string) string {
	f.Helper()
	text, err := os.ReadFile(filepath.Join(f.disk, path))
	f.must(err)
	return string(text)
}

func (f fixture) install(files ...string) {
	f.Helper()
	f.must(f.driver().Install(f.Context(), files, Options{}))
}

func (f fixture) rollBack(files ...string) {
	f.Helper()
	f.must(f.driver().Install(f.Context(), files, Options{Downgrade: true}))
}

// prepared prepares a rollback of the kubelet and returns the file.
func (f fixture) prepared() string {
	f.Helper()
	dir, name := filepath.Join(f.TempDir(), "rollback"), "kubelet"
	f.must(f.driver().Prepare(f.Context(), dir, []string{name}))
	files, err := Prepared(dir, name)
	f.must(err)
	if len(files) != 1 {
		f.Fatalf("files: %v", files)
	}
	return files[0]
}

// refusedBeforeAnOperation requires that a half-installed kubelet does not pass as an absent one.
func (f fixture) refusedBeforeAnOperation() {
	f.Helper()
	if got := reason(f.T, f.driver().Prepare(f.Context(), f.TempDir(), []string{"kubelet"})); got != HalfInstalled {
		f.Errorf("reason %s", got)
	}
	_, err := f.driver().Settled(f.Context(), "kubelet")
	if got := reason(f.T, err); got != HalfInstalled {
		f.Errorf("reason %s", got)
	}
}

// waitsForTheLock requires that rollback packages are not built while others install.
func (f fixture) waitsForTheLock() {
	f.Helper()
	dir := filepath.Join(f.TempDir(), "rollback")
	if got := reason(f.T, f.driver().Prepare(f.Context(), dir, []string{"kubelet"})); got != "PackagesLocked" {
		f.Errorf("reason %s", got)
	}
	if _, err := os.Stat(dir); err == nil {
		f.Error("a rollback was prepared")
	}
}

// at requires that packages are installed at these versions, and undamaged.
func (f fixture) at(versions map[string]string) {
	f.Helper()
	for name, want := range versions {
		got, err := f.driver().Installed(f.Context(), name)
		f.must(err)
		if got[name] != want {
			f.Errorf("%s is at %q, want %q", name, got[name], want)
		}
		problems, err := f.driver().Verify(f.Context(), []string{name})
		f.must(err)
		if want != "" && len(problems) > 0 {
			f.Errorf("problems: %v", problems)
		}
	}
}

// host is a dpkg database and a root of its own, with a driver for them.
type host struct {
	fixture
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
	f := newFixture(t, "dpkg", "dpkg-deb", "dpkg-query")
	dir := filepath.Dir(f.disk)
	h := &host{fixture: f, debs: filepath.Join(dir, "debs")}
	h.deb = deb{root: f.disk, admin: filepath.Join(f.disk, "var/lib/dpkg"), archives: filepath.Join(dir, "archives"), lockTimeout: 5 * time.Second}
	h.flags = []string{
		"--instdir=" + h.root, "--admindir=" + h.admin, "--log=" + filepath.Join(dir, "log"), "--force-script-chrootless",
	}
	h.driver = func() Driver { return h.deb }
	for _, d := range []string{h.debs, h.archives, h.admin + "/info", h.admin + "/updates", h.admin + "/triggers"} {
		h.must(os.MkdirAll(d, 0o755))
	}
	h.write("/var/lib/dpkg/status", "")
	h.write("/var/lib/dpkg/available", "")
	return h
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
		h.must(os.MkdirAll(filepath.Dir(to), 0o755))
		h.must(os.WriteFile(to, []byte(p.text), mode))
	}
	h.must(os.MkdirAll(filepath.Join(tree, "var/lib", name), 0o750))
	h.must(os.Symlink(name, filepath.Join(tree, "usr/bin", name+"-link")))
	file := filepath.Join(h.debs, fmt.Sprintf("%s_%s_all.deb", name, version))
	if out, err := exec.CommandContext(h.Context(), "dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, file).CombinedOutput(); err != nil {
		h.Fatalf("%v: %s", err, out)
	}
	return file
}

// at also requires that dpkg --audit reports nothing.
func (h *host) at(versions map[string]string) {
	h.Helper()
	h.fixture.at(versions)
	out, err := exec.CommandContext(h.Context(), "dpkg", append(slices.Clone(h.flags), "--audit")...).CombinedOutput()
	if err != nil || len(out) > 0 {
		h.Errorf("dpkg --audit: %v: %s", err, out)
	}
}
