package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestWhatCannotBeInstalledIsToldBefore(t *testing.T) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		t.Skip("apt-get is not on this machine")
	}
	h := newHost(t)
	h.install(h.pack("kubelet", "1.36.3-1.1"))
	needs := "Package: kubelet\nVersion: 2\nArchitecture: all\nMaintainer: A <a@example.invalid>\nDepends: nowhere (>= 2)\nDescription: a test\n"
	torn := filepath.Join(h.debs, "torn.deb")
	h.write(torn, "no package")
	for _, c := range []struct {
		situation, want string
		files           []string
		options         Options
	}{
		{"it fits", "", []string{h.pack("kubelet", "1.37.0-1.1")}, Options{}},
		{"it is there already", "", []string{h.pack("kubelet", "1.36.3-1.1")}, Options{}},
		{"a lower version", "DowngradeRefused", []string{h.pack("kubelet", "1.35.4-1.1")}, Options{}},
		{"a lower version on the way back", "", []string{h.pack("kubelet", "1.35.4-1.1")}, Options{Downgrade: true}},
		{"it needs what is not there", "PackagesDoNotFit", []string{h.pack("kubelet", "2", part{"control", needs})}, Options{}},
		{"no package", "PackageUnreadable", []string{torn}, Options{}},
		{"one of two is no package", "PackageUnreadable", []string{h.pack("kubeadm", "1.37.0-1.1"), torn}, Options{}},
		{"a package twice", "PackageTwice", []string{h.pack("kubelet", "3"), h.pack("kubelet", "4")}, Options{}},
		{"an odd name", "BadPackageName", []string{h.pack("kubelet", "1.37.0-1.1")}, Options{Hold: []string{"-x"}}},
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

func TestCheckLetsGoOfTheLock(t *testing.T) {
	h := newHost(t)
	h.lockWait = time.Second
	file := h.pack("kubelet", "1")
	h.no(h.Check(t.Context(), []string{file}, Options{}))
	h.install(file)
}

func (h *host) database() string {
	h.Helper()
	text, err := os.ReadFile(filepath.Join(h.admin, "status"))
	h.no(err)
	return string(text)
}
