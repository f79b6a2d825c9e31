package packages

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRollbackToARepackedPackage(t *testing.T) {
	h := newHost(t)
	h.install(h.pack("kubelet", "1:1.35.4-1.1", part{"postinst", "#!/bin/sh\necho $1 $2 >> $DPKG_ROOT/ran\n"}))
	// As path-exclude would.
	h.must(os.Remove(filepath.Join(h.root, "lib/systemd/system/kubelet.service")))
	h.must(os.Chmod(filepath.Join(h.root, "usr/bin/kubelet"), 0o750|os.ModeSetuid))
	previous := h.prepared()
	if want := "kubelet_1%3a1.35.4-1.1_all.deb"; filepath.Base(previous) != want {
		t.Errorf("the file is %s", previous)
	}
	if listed, err := output(exec.CommandContext(t.Context(), "dpkg-deb", "--contents", previous)); err != nil || !strings.Contains(listed, "drwxr-x---") {
		t.Errorf("the directory's mode is not kept: %v\n%s", err, listed)
	}
	h.install(h.pack("kubelet", "1:1.36.3-1.1"))
	h.rollBack(previous)
	h.at(map[string]string{"kubelet": "1:1.35.4-1.1"})
	if got := h.read("/usr/bin/kubelet"); !strings.Contains(got, "1.35.4") {
		t.Errorf("the binary is %q", got)
	}
	info, err := os.Stat(filepath.Join(h.root, "usr/bin/kubelet"))
	h.must(err)
	if info.Mode() != 0o750|os.ModeSetuid {
		t.Errorf("mode %v", info.Mode())
	}
	if target, _ := os.Readlink(filepath.Join(h.root, "usr/bin/kubelet-link")); target != "kubelet" {
		t.Errorf("the link points to %q", target)
	}
	if got := h.read("/ran"); !strings.Contains(got, "configure 1:1.36.3-1.1") {
		t.Errorf("the repacked script did not run: %q", got)
	}
	if got := h.read("/etc/kubelet.conf"); got != "version 1:1.35.4-1.1\n" {
		t.Errorf("the configuration is %q", got)
	}
}

// If the changed text were packed as the package's own, the third version would overwrite it.
func TestChangedConfigurationSurvivesRollbackAndNextUpgrade(t *testing.T) {
	h := newHost(t)
	h.install(h.pack("kubelet", "1"))
	h.write("/etc/kubelet.conf", "mine\n")
	previous := h.prepared()
	h.install(h.pack("kubelet", "2"))
	h.write("/etc/kubelet.conf", "mine, later\n")
	h.rollBack(previous)
	h.at(map[string]string{"kubelet": "1"})
	h.install(h.pack("kubelet", "3"))
	if got := h.read("/etc/kubelet.conf"); got != "mine, later\n" {
		t.Errorf("the configuration is %q", got)
	}
}

func TestOriginalIsTakenFromTheCache(t *testing.T) {
	h := newHost(t)
	file := h.pack("kubelet", "1")
	h.install(file)
	h.must(copyFile(file, filepath.Join(h.archives, filepath.Base(file))))
	previous := h.prepared()
	want, err := os.ReadFile(file)
	h.must(err)
	if got, _ := os.ReadFile(previous); !bytes.Equal(got, want) {
		t.Error("the kept file is not the original one")
	}
}

func TestCachedFileOfAnotherBuildIsIgnored(t *testing.T) {
	h := newHost(t)
	sums := part{"md5sums", "d41d8cd98f00b204e9800998ecf8427e  usr/share/kubelet/x\n"}
	h.install(h.pack("kubelet", "1", sums, part{"/usr/share/kubelet/x", ""}))
	other := h.pack("kubelet", "1", part{"md5sums", "00000000000000000000000000000000  usr/bin/kubelet\n"}, part{"/usr/bin/kubelet", "other"})
	h.must(copyFile(other, filepath.Join(h.archives, filepath.Base(other))))
	previous := h.prepared()
	h.install(h.pack("kubelet", "2"))
	h.rollBack(previous)
	if got := h.read("/usr/bin/kubelet"); got == "other" {
		t.Error("the rollback installed a file that was never on this host")
	}
}

func TestRollbackRestoresAReplacedBinary(t *testing.T) {
	h := newHost(t)
	file := h.pack("kubelet", "1")
	h.install(file)
	h.must(copyFile(file, filepath.Join(h.archives, filepath.Base(file))))
	h.write("/usr/bin/kubelet", "hotfix")
	previous := h.prepared()
	h.install(h.pack("kubelet", "2"))
	h.rollBack(previous)
	if got := h.read("/usr/bin/kubelet"); got != "hotfix" {
		t.Errorf("the binary is %q", got)
	}
}

// The agent was killed after Install and prepares again: the installed version is then the new one.
func TestPrepareAfterInstallKeepsThePreviousVersion(t *testing.T) {
	h := newHost(t)
	dir := filepath.Join(t.TempDir(), "rollback")
	h.install(h.pack("kubelet", "1"))
	h.must(h.Prepare(t.Context(), dir, []string{"kubelet", "absent"}))
	h.install(h.pack("kubelet", "2"), h.pack("absent", "2"))
	h.must(h.Prepare(t.Context(), dir, []string{"kubelet", "absent"}))
	files, err := Prepared(dir, "kubelet", "absent")
	h.must(err)
	if len(files) != 1 || filepath.Base(files[0]) != "kubelet_1_all.deb" {
		t.Errorf("files: %v", files)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRollbackPackageIsNotBuiltDuringAnotherTransaction(t *testing.T) {
	h := newHost(t)
	h.install(h.pack("kubelet", "1"))
	h.lockTimeout = 300 * time.Millisecond
	lockElsewhere(t, filepath.Join(h.admin, "lock-frontend"))
	h.waitsForTheLock()
}

func TestPreparedRefusesAnUnpreparedPackage(t *testing.T) {
	_, err := Prepared(t.TempDir(), "kubelet")
	if got := reason(t, err); got != "NoRollbackPackage" {
		t.Errorf("reason %s", got)
	}
}

func TestDivertedFileIsRepackedFromItsLocation(t *testing.T) {
	h := newHost(t)
	h.install(h.pack("kubelet", "1"))
	cmd := exec.CommandContext(t.Context(), "dpkg-divert", "--admindir="+h.admin, "--instdir="+h.root, "--local", "--rename", "--divert", "/usr/bin/kubelet.real", "--add", "/usr/bin/kubelet")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("dpkg-divert: %v: %s", err, out)
	}
	h.write("/usr/bin/kubelet", "wrapper")
	previous := h.prepared()
	h.install(h.pack("kubelet", "2"))
	h.rollBack(previous)
	if got := h.read("/usr/bin/kubelet.real"); !strings.Contains(got, "echo 1") {
		t.Errorf("the binary is %q", got)
	}
	if got := h.read("/usr/bin/kubelet"); got != "wrapper" {
		t.Errorf("the wrapper is %q", got)
	}
}
