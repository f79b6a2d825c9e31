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
	fixture
	rpm
}

// newRpmHost creates an empty host, in parallel with other tests.
func newRpmHost(t *testing.T) *rpmHost {
	t.Helper()
	t.Parallel()
	return newSerialRpmHost(t)
}

func newSerialRpmHost(t *testing.T) *rpmHost {
	t.Helper()
	h := &rpmHost{fixture: newFixture(t, "rpm", "rpmbuild")}
	h.rpm = rpm{root: h.disk, lockTimeout: 5 * time.Second}
	h.flags = []string{"--root", h.root, "--dbpath", "/var/lib/rpm"}
	h.driver = func() Driver { return h.rpm }
	return h
}

// pack builds a small package: a binary, two configuration files, a unit, a link, a directory,
// documentation. sections are added to its spec: scripts in Lua, since the root has no shell.
func (h *rpmHost) pack(name, version string, sections ...string) string {
	h.Helper()
	return h.build(name, version, func(spec string) string { return spec }, sections...)
}

// packWithoutConfig builds the package without its first configuration file.
func (h *rpmHost) packWithoutConfig(name, version string) string {
	h.Helper()
	return h.build(name, version, func(spec string) string {
		return strings.Replace(spec, "%config(noreplace) /etc/"+name+".conf\n", "%exclude /etc/"+name+".conf\n", 1)
	})
}

func (h *rpmHost) build(name, version string, edit func(spec string) string, sections ...string) string {
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
	h.must(os.WriteFile(file, []byte(edit(spec)), 0o600))
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
