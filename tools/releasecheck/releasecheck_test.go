package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestAnInvalidReleaseIsReported(t *testing.T) {
	dir := newExample(t)
	linux, mac, windows := product{cli, platform{"linux", "amd64"}}, product{cli, platform{"darwin", "arm64"}}, product{cli, platform{"windows", "amd64"}}
	agent := product{"refit-agent", linux.platform}
	for situation, c := range map[string]struct {
		change func(copied)
		want   string // in the error; nothing if the release is valid
	}{
		"a valid release": {func(copied) {}, ""},
		"a changed archive": {func(r copied) {
			r.change(r.archive(mac), "\x00", "\x01")
		}, "has the digest"},
		"a missing archive": {func(r copied) {
			if err := os.Remove(filepath.Join(r.dir, r.archive(mac))); err != nil {
				r.t.Fatal(err)
			}
		}, "no such file"},
		"an artifact without a checksum": {func(r copied) {
			r.change(checksums, r.document(mac), "other.spdx.json")
		}, "does not list " + example().document(mac)},
		"a checksum without an artifact": {func(r copied) {
			r.change(checksums, r.document(mac), "other.spdx.json")
		}, "lists other.spdx.json"},
		"a checksum outside of the directory": {func(r copied) {
			r.change(checksums, r.document(mac), "../"+r.document(mac))
		}, "is not the digest"},
		"an archive without a license": {func(r copied) {
			repack(r.t, r.release, mac, binaryOf(r.t, r.release, mac), "README.md")
		}, `want ["LICENSE"`},
		"an archive with another file": {func(r copied) {
			repack(r.t, r.release, windows, binaryOf(r.t, r.release, windows), "LICENSE", "README.md", "settings.yaml")
		}, "settings.yaml"},
		"a binary for another system": {func(r copied) {
			repack(r.t, r.release, mac, binaryOf(r.t, r.release, windows), "LICENSE", "README.md")
		}, "not a binary for darwin"},
		"a document about another binary": {func(r copied) {
			write(r.t, filepath.Join(r.dir, r.document(mac)), read(r.t, filepath.Join(r.dir, r.document(windows))))
			sum(r.t, r.release)
		}, "of the binary"},
		"a document without a module": {func(r copied) {
			r.change(r.document(mac), "./dependency", "./other")
			sum(r.t, r.release)
		}, "./dependency@(devel) is missing"},
		"an image with another binary": {func(r copied) {
			repack(r.t, r.release, agent, append(binaryOf(r.t, r.release, agent), 0), "LICENSE", "README.md")
			run(r.t, ".", nil, "go", "run", "../sbom", "-time", "1", "-commit", "abc", "-version", r.version, "-to", filepath.Join(r.dir, r.document(agent)), unpacked(r.t, r.release, agent))
			sum(r.t, r.release)
		}, "differs from that of the archive"},
		"another image": {func(r copied) {
			write(r.t, filepath.Join(r.dir, r.image("refit-agent")), read(r.t, filepath.Join(r.dir, r.image("refit-controller"))))
			sum(r.t, r.release)
		}, "cannot find refit-agent"},
		"a manifest with another digest": {func(r copied) {
			r.change(krewManifest, digest(r.t, r.release, r.archive(mac)), digest(r.t, r.release, r.archive(windows)))
		}, "want " + example().archive(mac)},
		"a manifest without a platform": {func(r copied) {
			text := string(read(r.t, filepath.Join(r.dir, krewManifest)))
			write(r.t, filepath.Join(r.dir, krewManifest), []byte(text[:strings.LastIndex(text, "  - bin")]))
		}, "platforms are missing"},
		"a manifest with a platform twice": {func(r copied) {
			text := string(read(r.t, filepath.Join(r.dir, krewManifest)))
			write(r.t, filepath.Join(r.dir, krewManifest), []byte(text+text[strings.LastIndex(text, "  - bin"):]))
		}, "twice"},
		"a manifest of another version": {func(r copied) {
			r.change(krewManifest, "version: v1.2.3", "version: v1.2.4")
		}, "refit v1.2.4"},
		"a manifest with an unknown field": {func(r copied) {
			r.change(krewManifest, "spec:", "spec:\n  extra: true")
		}, "unknown field"},
		"a formula with another digest": {func(r copied) {
			r.change(formula, digest(r.t, r.release, r.archive(mac)), digest(r.t, r.release, r.archive(windows)))
		}, example().archive(mac) + " has the digest"},
		"a formula with another address": {func(r copied) {
			r.change(formula, "end\n", "url \"https://example.org/other.tar.gz\"\nsha256 \"1\"\nend\n")
		}, "other.tar.gz is not in the release"},
	} {
		t.Run(situation, func(t *testing.T) {
			r := example()
			r.dir = t.TempDir()
			if err := os.CopyFS(r.dir, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			c.change(copied{r, t})
			err := r.check(t.Context())
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	t.Run("two builds", func(t *testing.T) { compareBuilds(t, dir) })
}

// compareBuilds compares a release with an equal one and with another one.
func compareBuilds(t *testing.T, dir string) {
	t.Helper()
	r, other := release{version: "v1.2.3"}, t.TempDir()
	var platforms []string
	for _, p := range example().platforms {
		platforms = append(platforms, p.String())
	}
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.run(t.Context(), &out, strings.Join(platforms, ","), []string{dir, other}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); strings.Count(out.String(), " equal\n") != lines-1 || lines < 10 {
		t.Errorf("the table is\n%s", out.String())
	}
	change(t, filepath.Join(other, formula), "Refit", "Other")
	out.Reset()
	err := r.run(t.Context(), &out, strings.Join(platforms, ","), []string{dir, other})
	if err == nil || err.Error() != formula+" differs between two builds" {
		t.Errorf("%v", err)
	}
	if strings.Count(out.String(), " equal\n") != strings.Count(out.String(), "\n")-2 {
		t.Errorf("the table is\n%s", out.String())
	}
}

func TestABinaryThatWasBuiltOtherwiseIsReported(t *testing.T) {
	source := t.TempDir()
	for name, content := range sources {
		write(t, filepath.Join(source, name), []byte(content))
	}
	host := product{cli, platform{runtime.GOOS, runtime.GOARCH}}
	plain, trimmed := filepath.Join(source, "plain"), filepath.Join(source, "trimmed")
	build(t, source, plain, host)
	build(t, source, trimmed, host, "-trimpath")
	if _, err := checkBinary(host, read(t, plain)); err == nil || !strings.Contains(err.Error(), "built with -trimpath=") {
		t.Errorf("without -trimpath: %v", err)
	}
	other := host
	if other.arch = "arm64"; host.arch == "arm64" {
		other.arch = "amd64"
	}
	if _, err := checkBinary(other, read(t, trimmed)); err == nil || !strings.Contains(err.Error(), "it is for the machine") {
		t.Errorf("another machine: %v", err)
	}
	bare := filepath.Join(source, "bare")
	build(t, source, bare, product{"refit-agent", host.platform}, "-trimpath")
	if _, err := checkBinary(host, read(t, bare)); err == nil || !strings.Contains(err.Error(), "without the pages") {
		t.Errorf("without the pages: %v", err)
	}
	for _, name := range []string{cli, "refit-agent"} {
		p := product{name, host.platform}
		build(t, source, trimmed, p, "-trimpath")
		if err := example().runs(t.Context(), p, read(t, trimmed)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		err := release{version: "v1.2.4"}.runs(t.Context(), p, read(t, trimmed))
		if err == nil || !strings.Contains(err.Error(), "it reports") {
			t.Errorf("%s of another version: %v", name, err)
		}
	}
}

func TestIncompleteArgumentsAreRefused(t *testing.T) {
	for situation, c := range map[string]struct {
		version, platforms string
		dirs               []string
	}{
		"without a version":   {"", "linux/amd64", []string{"."}},
		"without platforms":   {"v1.2.3", "", []string{"."}},
		"an invalid platform": {"v1.2.3", "linux", []string{"."}},
		"without a directory": {"v1.2.3", "linux/amd64", nil},
		"three directories":   {"v1.2.3", "linux/amd64", []string{".", ".", "."}},
	} {
		if err := (release{version: c.version}).run(t.Context(), os.Stderr, c.platforms, c.dirs); err == nil {
			t.Errorf("%s: accepted", situation)
		}
	}
}

// copied is a copy of the example that a test changes.
type copied struct {
	release
	t *testing.T
}

// change replaces text of an artifact.
func (c copied) change(name, old, replacement string) {
	c.t.Helper()
	change(c.t, filepath.Join(c.dir, name), old, replacement)
}

// change replaces text of a file.
func change(t *testing.T, file, old, replacement string) {
	t.Helper()
	text := string(read(t, file))
	if !strings.Contains(text, old) {
		t.Fatalf("%s does not contain %q", file, old)
	}
	write(t, file, []byte(strings.ReplaceAll(text, old, replacement)))
}

// repack replaces the archive of a binary, and the digests.
func repack(t *testing.T, r release, p product, binary []byte, others ...string) {
	t.Helper()
	write(t, filepath.Join(r.dir, r.archive(p)), pack(t, p, binary, others...))
	sum(t, r)
}

func binaryOf(t *testing.T, r release, p product) []byte {
	t.Helper()
	content, err := r.unpack(p)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// unpacked returns the path of the binary of an archive.
func unpacked(t *testing.T, r release, p product) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), p.name)
	write(t, file, binaryOf(t, r, p))
	return file
}
