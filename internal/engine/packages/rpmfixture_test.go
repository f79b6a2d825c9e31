package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rpmHost is an rpm database and a root of its own, with a driver for them.
type rpmHost struct {
	*testing.T
	rpm
	dir string
}

// newRpmHost creates an empty host, in parallel with other tests.
func newRpmHost(t *testing.T) *rpmHost {
	t.Helper()
	t.Parallel()
	return newSerialRpmHost(t)
}

func newSerialRpmHost(t *testing.T) *rpmHost {
	t.Helper()
	for _, binary := range []string{"rpm", "rpmbuild"} {
		if _, err := exec.LookPath(binary); err != nil {
			t.Skipf("%s is not installed", binary)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("rpm installs only as root")
	}
	dir := t.TempDir()
	h := &rpmHost{T: t, dir: dir, rpm: rpm{root: filepath.Join(dir, "root"), lockTimeout: 5 * time.Second}}
	h.flags = []string{"--root", h.root, "--dbpath", "/var/lib/rpm"}
	h.must(os.MkdirAll(h.root, 0o755))
	return h
}

func (h *rpmHost) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatalf("%v\n%s", err, logOf(err))
	}
}

func (h *rpmHost) write(path, text string) {
	h.Helper()
	path = h.onDisk(path)
	h.must(os.MkdirAll(filepath.Dir(path), 0o755))
	h.must(os.WriteFile(path, []byte(text), 0o644))
}

func (h *rpmHost) read(path string) string {
	h.Helper()
	text, err := os.ReadFile(h.onDisk(path))
	h.must(err)
	return string(text)
}

// pack builds a small package: a binary, two configuration files, a unit, a link, a directory,
// documentation. sections are added to its spec: scripts in Lua, since the root has no shell.
func (h *rpmHost) pack(name, version string, sections ...string) string {
	h.Helper()
	dir := h.TempDir()
	epoch := "0"
	full := version
	if before, after, ok := strings.Cut(version, ":"); ok {
		epoch, full = before, after
	}
	upstream, release, _ := strings.Cut(full, "-")
	spec := fmt.Sprintf(`Name: %[1]s
Epoch: %[5]s
Version: %[2]s
Release: %[3]s
Summary: a test
License: none
BuildArch: noarch
%[6]s
%%description
of packages
%%install
mkdir -p %%{buildroot}/usr/bin %%{buildroot}/etc %%{buildroot}/usr/lib/systemd/system %%{buildroot}/var/lib/%[1]s %%{buildroot}/usr/share/doc/%[1]s
printf '#!/bin/sh\necho %[4]s\n' > %%{buildroot}/usr/bin/%[1]s
ln -s %[1]s %%{buildroot}/usr/bin/%[1]s-link
echo 'version %[4]s' > %%{buildroot}/etc/%[1]s.conf
echo 'version %[4]s' > %%{buildroot}/etc/%[1]s-replaced.conf
echo '[Service]' > %%{buildroot}/usr/lib/systemd/system/%[1]s.service
echo text > %%{buildroot}/usr/share/doc/%[1]s/readme
%%files
%%attr(0755,root,root) /usr/bin/%[1]s
/usr/bin/%[1]s-link
%%config(noreplace) /etc/%[1]s.conf
%%config /etc/%[1]s-replaced.conf
/usr/lib/systemd/system/%[1]s.service
%%dir %%attr(0750,root,root) /var/lib/%[1]s
%%doc /usr/share/doc/%[1]s/readme
`, name, upstream, release, version, epoch, strings.Join(headers(sections), "\n")) + strings.Join(scripts(sections), "\n")
	file := filepath.Join(dir, name+".spec")
	h.must(os.WriteFile(file, []byte(spec), 0o600))
	cmd := exec.CommandContext(h.Context(), "rpmbuild", "-bb", "--quiet", "--define", "_topdir "+dir, "--define", "_binary_payload w1.gzdio",
		"--define", "__os_install_post %{nil}", "--define", "_build_id_links none", file)
	cmd.Env = append(os.Environ(), "HOME="+dir, "SOURCE_DATE_EPOCH=1700000000")
	if out, err := cmd.CombinedOutput(); err != nil {
		h.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "RPMS/noarch", fmt.Sprintf("%s-%s-%s.noarch.rpm", name, upstream, release))
}

// headers returns the sections that are fields, scripts the others.
func headers(sections []string) (out []string) {
	for _, s := range sections {
		if !strings.HasPrefix(s, "%") {
			out = append(out, s)
		}
	}
	return out
}

func scripts(sections []string) (out []string) {
	for _, s := range sections {
		if strings.HasPrefix(s, "%") {
			out = append(out, s+"\n")
		}
	}
	return out
}

// ran is a script that appends a line to the file /ran of the host.
func ran(script, line string) string {
	script, condition, _ := strings.Cut(script, " ")
	return fmt.Sprintf("%%%s -p <lua> %s\nlocal f = io.open('/ran', 'a'); f:write(%s .. '\\n'); f:close()", script, condition, line)
}

func (h *rpmHost) install(files ...string) {
	h.Helper()
	h.must(h.Install(h.Context(), files, Options{}))
}

func (h *rpmHost) rollBack(files ...string) {
	h.Helper()
	h.must(h.Install(h.Context(), files, Options{Downgrade: true}))
}

// prepared prepares a rollback of the kubelet and returns the file.
func (h *rpmHost) prepared() string {
	h.Helper()
	dir, name := filepath.Join(h.TempDir(), "rollback"), "kubelet"
	h.must(h.Prepare(h.Context(), dir, []string{name}))
	files, err := Prepared(dir, name)
	h.must(err)
	if len(files) != 1 {
		h.Fatalf("files: %v", files)
	}
	return files[0]
}

// at requires that packages are installed at these versions, once, and undamaged.
func (h *rpmHost) at(versions map[string]string) {
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
}
