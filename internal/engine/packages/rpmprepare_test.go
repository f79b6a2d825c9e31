package packages

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestRpmRollbackToARepackedPackage(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1:1.35.4-1", ran("post", "'post ' .. arg[2]"), "Requires: rpmlib(CompressedFileNames)"))
	// As an installation without documentation would.
	h.must(os.RemoveAll(h.onDisk("/usr/share/doc/kubelet")))
	h.must(os.Chmod(h.onDisk("/usr/bin/kubelet"), 0o750|os.ModeSetuid))
	before := h.headerText()
	previous := h.prepared()
	if want := "kubelet-1:1.35.4-1.noarch.rpm"; filepath.Base(previous) != want {
		t.Errorf("the file is %s", previous)
	}
	h.install(h.pack("kubelet", "1:1.36.3-1"))
	h.rollBack(previous)
	h.at(map[string]string{"kubelet": "1:1.35.4-1"})
	if got := h.read("/usr/bin/kubelet"); !strings.Contains(got, "1.35.4") {
		t.Errorf("the binary is %q", got)
	}
	info, err := os.Stat(h.onDisk("/usr/bin/kubelet"))
	h.must(err)
	if info.Mode() != 0o750|os.ModeSetuid {
		t.Errorf("mode %v", info.Mode())
	}
	if info, err = os.Stat(h.onDisk("/var/lib/kubelet")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the directory's mode is %v, %v", info.Mode(), err)
	}
	if target, _ := os.Readlink(h.onDisk("/usr/bin/kubelet-link")); target != "kubelet" {
		t.Errorf("the link points to %q", target)
	}
	if got := h.read("/ran"); got != "post 1\npost 2\n" {
		t.Errorf("the repacked script did not run: %q", got)
	}
	for _, path := range []string{"/etc/kubelet.conf", "/etc/kubelet-replaced.conf"} {
		if got := h.read(path); got != "version 1:1.35.4-1\n" {
			t.Errorf("%s is %q", path, got)
		}
	}
	if after := h.headerText(); after != before {
		t.Errorf("rpm describes the package as\n%s, before\n%s", after, before)
	}
	if left, _ := filepath.Glob(h.onDisk("/etc/*.rpm*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// nfpm writes the algorithm once per file, rpmbuild once per package. rpm reads the first.
func TestRpmRollbackToAPackageWithADigestAlgorithmPerFile(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.packWithAlgorithms("1.35.4-1"))
	h.at(map[string]string{"kubelet": "1.35.4-1"})
	previous := h.prepared()
	h.install(h.pack("kubelet", "1.36.3-1"))
	h.rollBack(previous)
	h.at(map[string]string{"kubelet": "1.35.4-1"})
	if got := h.read("/etc/kubelet.conf"); got != "version 1.35.4-1\n" {
		t.Errorf("the configuration is %q", got)
	}
}

// packWithAlgorithms builds a kubelet whose header has a digest algorithm for each file.
func (h *rpmHost) packWithAlgorithms(version string) string {
	h.Helper()
	r := rpm{root: h.TempDir(), lockTimeout: h.lockTimeout}
	r.flags = []string{"--root", r.root, "--dbpath", "/var/lib/rpm"}
	h.must(r.Install(h.Context(), []string{h.pack("kubelet", version)}, Options{}))
	header, err := r.installedHeader(h.Context(), "kubelet")
	h.must(err)
	files, err := newFileList(header)
	h.must(err)
	payload, packed := filepath.Join(h.TempDir(), "payload"), filepath.Join(h.TempDir(), "kubelet.rpm")
	sum, err := r.writePayload(h.Context(), payload, files)
	h.must(err)
	header.setNumbers(tagDigestAlgo, slices.Repeat([]uint64{files.digestAlgo}, len(files.paths))...)
	header.setTexts(tagPayloadDigest, []string{sum})
	delete(header, tagPayloadAlt)
	h.must(writePackage(packed, "kubelet", header, payload))
	return packed
}

// headerText is what a package is for its dependents.
func (h *rpmHost) headerText() string {
	h.Helper()
	out, err := h.query(h.Context(), "--query", "--queryformat",
		`%{NAME} %{EPOCH} %{VERSION} %{RELEASE} %{ARCH} %{LICENSE} [%{PROVIDENEVRS} ][%{REQUIRENEVRS} ]%{POSTIN} [%{FILENAMES} %{FILEUSERNAME} %{FILEDIGESTS}\n]`, "kubelet")
	h.must(err)
	return out
}

// rpm compares the changed file with the digest of the package: without the original digest, the
// third version would replace it.
func TestRpmChangedConfigurationSurvivesRollbackAndNextUpgrade(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1-1"))
	h.write("/etc/kubelet.conf", "mine\n")
	previous := h.prepared()
	h.install(h.pack("kubelet", "2-1"))
	h.write("/etc/kubelet-replaced.conf", "mine, later\n")
	h.rollBack(previous)
	h.at(map[string]string{"kubelet": "1-1"})
	for path, want := range map[string]string{"/etc/kubelet.conf": "mine\n", "/etc/kubelet-replaced.conf": "mine, later\n"} {
		if got := h.read(path); got != want {
			t.Errorf("after the rollback, %s is %q", path, got)
		}
	}
	h.write("/etc/kubelet-replaced.conf", "version 1-1\n")
	h.install(h.pack("kubelet", "3-1"))
	if got := h.read("/etc/kubelet.conf"); got != "mine\n" {
		t.Errorf("after the next upgrade, the configuration is %q", got)
	}
	if got := h.read("/etc/kubelet-replaced.conf"); got != "version 3-1\n" {
		t.Errorf("the unchanged configuration is %q", got)
	}
}

func TestRpmRollbackRestoresAReplacedBinary(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1-1"))
	h.write("/usr/bin/kubelet", "hotfix")
	previous := h.prepared()
	h.install(h.pack("kubelet", "2-1"))
	h.rollBack(previous)
	if got := h.read("/usr/bin/kubelet"); got != "hotfix" {
		t.Errorf("the binary is %q", got)
	}
}

func TestRpmRollbackPackageIsNotBuiltDuringAnotherTransaction(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1-1"))
	h.lockTimeout = 300 * time.Millisecond
	h.lockedBy("dnf")
	h.waitsForTheLock()
}

func TestRpmFullDiskWhileRepacking(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1-1"))
	large := make([]byte, 2<<20)
	_, err := rand.Read(large)
	h.must(err)
	h.write("/usr/bin/kubelet", string(large))
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	if got, want := reason(t, h.Prepare(t.Context(), dir, []string{"kubelet"})), node.FailureOf(node.DiskFull(nil, "", "")).Reason; got != want {
		t.Errorf("reason %s, want %s", got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// The next version does not have the configuration file any more. rpm removes an unchanged one, and
// moves a changed one to PATH.rpmsave.
func TestRpmRollbackRestoresDroppedConfiguration(t *testing.T) {
	for situation, c := range map[string]struct{ before, stale, want string }{
		"unchanged":                   {"version 1-1\n", "", "version 1-1\n"},
		"changed":                     {"mine\n", "", "mine\n"},
		"changed, with an older copy": {"mine\n", "of an earlier upgrade\n", "mine\n"},
		"removed, with an older copy": {"", "of an earlier upgrade\n", ""},
	} {
		t.Run(situation, func(t *testing.T) {
			h := newRpmHost(t)
			h.install(h.pack("kubelet", "1-1"))
			h.write("/etc/kubelet.conf", c.before)
			if c.before == "" {
				h.must(os.Remove(h.onDisk("/etc/kubelet.conf")))
			}
			if c.stale != "" {
				h.write("/etc/kubelet.conf.rpmsave", c.stale)
			}
			previous := h.prepared()
			h.install(h.packWithoutConfig("kubelet", "2-1"))
			if _, err := os.Stat(h.onDisk("/etc/kubelet.conf")); err == nil {
				t.Fatal("the new version has the configuration")
			}
			h.rollBack(previous)
			h.at(map[string]string{"kubelet": "1-1"})
			got, _ := os.ReadFile(h.onDisk("/etc/kubelet.conf"))
			if string(got) != c.want {
				t.Errorf("the configuration is %q", got)
			}
		})
	}
}

// The agent was killed after Install and prepares again: the installed version is then the new one.
func TestRpmPrepareAfterInstallKeepsThePreviousVersion(t *testing.T) {
	h := newRpmHost(t)
	dir := filepath.Join(t.TempDir(), "rollback")
	h.install(h.pack("kubelet", "1-1"))
	h.must(h.Prepare(t.Context(), dir, []string{"kubelet", "absent"}))
	h.install(h.pack("kubelet", "2-1"), h.pack("absent", "2-1"))
	h.must(h.Prepare(t.Context(), dir, []string{"kubelet", "absent"}))
	files, err := Prepared(dir, "kubelet", "absent")
	h.must(err)
	if len(files) != 1 || filepath.Base(files[0]) != "kubelet-1-1.noarch.rpm" {
		t.Errorf("files: %v", files)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRpmPrepareOfAnInterruptedPackage(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1-1"))
	h.must(h.setUnfinished([]string{"kubelet"}, true))
	text := h.read("/usr/bin/kubelet")
	h.write("/usr/bin/kubelet", "half")
	h.refusedBeforeAnOperation()
	h.write("/usr/bin/kubelet", text) // as the remedy does
	if before, err := h.Settled(t.Context(), "kubelet", "absent"); err != nil || len(before) != 1 || before["kubelet"] != "1-1" {
		t.Errorf("before the operation: %v, %v", before, err)
	}
	h.prepared()
	h.at(map[string]string{"kubelet": "1-1"})
}

// The rollback of two packages is one transaction; large files and every kind of entry survive it.
func TestRpmLargeFileIsRepacked(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1-1"))
	large := bytes.Repeat([]byte("0123456789abcdef!"), 1<<18)
	h.write("/usr/bin/kubelet", string(large))
	previous := h.prepared()
	h.install(h.pack("kubelet", "2-1"))
	h.rollBack(previous)
	if got := h.read("/usr/bin/kubelet"); got != string(large) {
		t.Errorf("the binary has %d bytes, want %d", len(got), len(large))
	}
	h.at(map[string]string{"kubelet": "1-1"})
}

func TestParseHeaderRefusesWhatIsTruncated(t *testing.T) {
	h := header{}
	h.setText(tagPayloadFormat, "cpio")
	h.setNumbers(tagFileModes, 1, 2, 3)
	h.setTexts(tagBaseNames, []string{"a", ""})
	text := h.bytes(tagImmutable)[len(headerMagic):]
	parsed, err := parseHeader(text)
	if err != nil || len(parsed) != len(h) || len(parsed.texts(tagBaseNames)) != 2 {
		t.Fatalf("%v, %v", parsed, err)
	}
	for n := range len(text) {
		if _, err := parseHeader(text[:n]); err == nil {
			t.Errorf("%d of %d bytes are accepted", n, len(text))
		}
	}
}

func TestRpmFileIsExtracted(t *testing.T) {
	h := newRpmHost(t)
	file, to := h.pack("kubeadm", "1-1"), filepath.Join(t.TempDir(), "kubeadm")
	h.must(h.Extract(t.Context(), file, "/usr/bin/kubeadm", to))
	if text, err := os.ReadFile(to); err != nil || string(text) != "#!/bin/sh\necho 1-1\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := h.Extract(t.Context(), file, "/usr/bin/absent", to+"2"); err == nil {
		t.Error("a file that the package does not have was extracted")
	}
	h.must(os.Truncate(file, 5000))
	if err := h.Extract(t.Context(), file, "/usr/bin/kubeadm", to+"3"); err == nil {
		t.Error("a file of a truncated package was extracted")
	}
}
