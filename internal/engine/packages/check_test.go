package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestCheckRefusesWhatInstallWouldRefuse(t *testing.T) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		t.Skip("apt-get is not installed")
	}
	h := newHost(t)
	h.install(h.pack("kubelet", "1.36.3-1.1"))
	needs := "Package: kubelet\nVersion: 2\nArchitecture: all\nMaintainer: A <a@example.invalid>\nDepends: nowhere (>= 2)\nDescription: a test\n"
	broken := filepath.Join(h.debs, "broken.deb")
	h.must(os.WriteFile(broken, []byte("not a package"), 0o600))
	for _, c := range []struct {
		situation, want string
		files           []string
		options         Options
	}{
		{"a newer version", "", []string{h.pack("kubelet", "1.37.0-1.1")}, Options{}},
		{"the installed version", "", []string{h.pack("kubelet", "1.36.3-1.1")}, Options{}},
		{"a lower version", "DowngradeRefused", []string{h.pack("kubelet", "1.35.4-1.1")}, Options{}},
		{"a lower version in a rollback", "", []string{h.pack("kubelet", "1.35.4-1.1")}, Options{Downgrade: true}},
		{"an unmet dependency", "UnmetDependencies", []string{h.pack("kubelet", "2", part{"control", needs})}, Options{}},
		{"not a package", "PackageUnreadable", []string{broken}, Options{}},
		{"one of two is not a package", "PackageUnreadable", []string{h.pack("kubeadm", "1.37.0-1.1"), broken}, Options{}},
		{"two files of a package", "DuplicatePackage", []string{h.pack("kubelet", "3"), h.pack("kubelet", "4")}, Options{}},
		{"an invalid name", "InvalidPackageName", []string{h.pack("kubelet", "1.37.0-1.1")}, Options{Hold: []string{"-x"}}},
	} {
		before := h.database()
		err := h.Check(t.Context(), c.files, c.options)
		if c.want == "" && err != nil || c.want != "" && reason(t, err) != c.want {
			t.Errorf("%s: %v", c.situation, err)
		}
		if h.database() != before {
			t.Errorf("%s: dpkg's database has changed", c.situation)
		}
	}
	h.at(map[string]string{"kubelet": "1.36.3-1.1", "kubeadm": ""})
}

func TestCheckReleasesTheLock(t *testing.T) {
	h := newHost(t)
	h.lockTimeout = time.Second
	file := h.pack("kubelet", "1")
	h.must(h.Check(t.Context(), []string{file}, Options{}))
	h.install(file)
}

func (h *host) database() string {
	h.Helper()
	text, err := os.ReadFile(filepath.Join(h.admin, "status"))
	h.must(err)
	return string(text)
}
