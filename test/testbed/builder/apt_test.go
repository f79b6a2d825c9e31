package builder

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestRepositoryHoldsOnlyIndexedPackages(t *testing.T) {
	dir := t.TempDir()
	apt := aptRepository{dir: filepath.Join(dir, "apt")}
	deb := filepath.Join(dir, "entry", "kubelet_1.36.3-1.1_amd64.deb")
	write := func(path, text string) {
		t.Helper()
		if err := writeFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(situation string, want bool) {
		t.Helper()
		if got := apt.holds([]string{deb}); got != want {
			t.Errorf("%s: holds is %t", situation, got)
		}
	}
	write(deb, "a package")
	expect("no repository", false)
	write(filepath.Join(apt.dir, "Release"), "")
	write(filepath.Join(apt.dir, "Packages"), "Package: kubelet\nFilename: pool/kubelet_1.36.3-1.1_amd64.deb\n")
	expect("the pool is empty", false)
	if err := linkFile(deb, filepath.Join(apt.dir, "pool", filepath.Base(deb))); err != nil {
		t.Fatal(err)
	}
	expect("complete", true)
	write(filepath.Join(apt.dir, "Packages"), "Package: kubelet\nFilename: pool/kubelet_1.36.3-1.1_amd64.deb.old\n")
	expect("the index names another file", false)
	write(filepath.Join(apt.dir, "Packages"), "Filename: pool/kubelet_1.36.3-1.1_amd64.deb\n")
	if err := os.Remove(deb); err != nil {
		t.Fatal(err)
	}
	write(deb, "the same package, rebuilt")
	expect("the pool has an older build", false)
}

func TestPublishedPackagesAreIndexed(t *testing.T) {
	for _, tool := range []string{"dpkg-deb", "apt-ftparchive"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	b, _ := testBuilder(t)
	for _, version := range []string{"1.0-1", "1.1-1"} {
		binary := fake{name: "thing", release: version, work: func(_ context.Context, _ *workshop, dir string) error {
			return writeFile(filepath.Join(dir, "bin/thing"), "binary "+version, 0o755)
		}}
		packed := debs{name: "deb-thing", release: version, binaries: binary, packages: []deb{{
			name: "thing", version: version, depends: "libc6", summary: "A thing",
			binaries: map[string]string{"usr/bin/thing": "thing"}, scripts: serviceScripts("thing.service", ""),
		}}}
		if err := b.ensure(t.Context(), packed); err != nil {
			t.Fatal(err)
		}
		found, err := debsOf(b.cache, []recipe{packed})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.apt.publish(t.Context(), found); err != nil {
			t.Fatal(err)
		}
		if !b.apt.holds(found) {
			t.Errorf("%s was published and is not there", version)
		}
	}
	packages, err := os.ReadFile(filepath.Join(b.AptRepository(), "Packages"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"Version: 1.0-1\n", "Version: 1.1-1\n", "Filename: pool/thing_1.0-1_"} {
		if !strings.Contains(string(packages), line) {
			t.Errorf("no %q in the index:\n%s", line, packages)
		}
	}
}

func TestControlFileOfAPackage(t *testing.T) {
	d := deb{name: "kubelet", version: "1.36.3-1.1", depends: "mount", summary: "Node agent"}
	for _, line := range []string{"Package: kubelet\n", "Version: 1.36.3-1.1\n", "Depends: mount\n", "Description: Node agent\n"} {
		if !strings.Contains(d.control(), line) {
			t.Errorf("no %q in:\n%s", line, d.control())
		}
	}
}
