package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const elf = "\x7fELF\x02\x01"

func TestBinaryOfAService(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put(t, at("kubelet"), elf, 0o755)
	put(t, at("versions/1.35/kubelet"), elf, 0o755)
	put(t, at("hyperkube"), elf, 0o755)
	put(t, at("scripts/kubelet"), "#!/bin/sh\nexec /usr/bin/kubelet \"$@\"\n", 0o755)
	put(t, at("start-kubelet.sh"), "#!/bin/sh\n", 0o755)
	put(t, at("empty/kubelet"), "", 0o755)
	for _, link := range []struct{ from, to string }{{"link/kubelet", "../versions/1.35/kubelet"}, {"links/kubelet", "../hyperkube"}} {
		must(t, os.MkdirAll(filepath.Dir(at(link.from)), 0o755))
		must(t, os.Symlink(link.to, at(link.from)))
	}
	for _, c := range []struct {
		situation string
		unit      Unit
		want      string // the path; with an error a part of its text
		wrapped   bool
	}{
		{"the binary", Unit{Executable: at("kubelet")}, at("kubelet"), false},
		{"the binary under another first argument", Unit{Executable: at("kubelet"), ExecStart: []string{"k"}}, at("kubelet"), false},
		{"a symlink to the binary", Unit{Executable: at("link/kubelet")}, at("versions/1.35/kubelet"), false},
		{"an older systemd without the executable", Unit{ExecStart: []string{at("kubelet"), "--config"}}, at("kubelet"), false},
		{"no command", Unit{}, "", false},
		{"a script of another name", Unit{Executable: at("start-kubelet.sh")}, "start-kubelet.sh", true},
		{"a script of the same name", Unit{Executable: at("scripts/kubelet")}, "not an executable in the ELF format", true},
		{"an empty file", Unit{Executable: at("empty/kubelet")}, "not an executable in the ELF format", true},
		{"a symlink to another binary", Unit{Executable: at("links/kubelet")}, "hyperkube", true},
		{"a shell", Unit{Executable: "/bin/sh", ExecStart: []string{"/bin/sh", "-c", "kubelet"}}, "/bin/sh", true},
	} {
		t.Run(c.situation, func(t *testing.T) {
			path, err := c.unit.Binary("kubelet")
			wrapper, wrapped := errors.AsType[*WrapperError](err)
			switch {
			case wrapped != c.wrapped:
				t.Errorf("%q, %v", path, err)
			case wrapped && (!strings.Contains(err.Error(), c.want) || wrapper.Path != c.unit.Executable):
				t.Errorf("%+v: %v", wrapper, err)
			case !wrapped && (err != nil || path != c.want):
				t.Errorf("%q, %v", path, err)
			}
		})
	}
	if _, err := (Unit{Executable: at("absent")}).Binary("absent"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
