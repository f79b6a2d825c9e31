package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// example is a release of small binaries.
func example() release {
	r := release{version: "v1.2.3", platforms: []platform{{"linux", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}}
	if host := (platform{runtime.GOOS, runtime.GOARCH}); !slices.Contains(r.platforms, host) {
		r.platforms = append(r.platforms, host)
	}
	return r
}

// sources are a module that has another one. Only the binary of this platform prints something:
// the others need nothing but the runtime, which keeps their builds short.
var sources = map[string]string{
	"go.mod":     "module example.org/example\n\ngo 1.26.0\n\nrequire example.org/dependency v1.0.0\n\nreplace example.org/dependency => ./dependency\n",
	"example.go": "package main\n\nimport \"example.org/dependency\"\n\nfunc main() { print(dependency.Text) }\n",
	"host.go": `//go:build host

package main

import (
	"os"
	"runtime"
)

func init() {
	if len(os.Args) == 2 {
		os.Stdout.WriteString(name + " version v1.2.3\n")
		return
	}
	os.Stdout.WriteString("{\"version\": \"v1.2.3\", \"platform\": \"" + runtime.GOOS + "/" + runtime.GOARCH + "\"}")
}

var name string
`,
	"dependency/go.mod":        "module example.org/dependency\n\ngo 1.26.0\n",
	"dependency/dependency.go": "package dependency\n\nvar Text string\n",
}

// newExample builds the example and returns its directory.
func newExample(t *testing.T) string {
	t.Helper()
	r, dir, work := example(), t.TempDir(), t.TempDir()
	r.dir = dir
	for name, content := range sources {
		write(t, filepath.Join(work, name), []byte(content))
	}
	tools := t.TempDir()
	run(t, ".", nil, "go", "build", "-o", tools, "../sbom", "../images")
	images := map[string][]string{}
	for _, p := range r.products() {
		binary := filepath.Join(work, p.os+p.arch, p.name)
		build(t, work, binary, p, "-trimpath")
		content := read(t, binary)
		write(t, filepath.Join(dir, r.archive(p)), pack(t, p, content, "LICENSE", "README.md"))
		run(t, dir, nil, filepath.Join(tools, "sbom"), "-time", "1", "-commit", "abc", "-version", r.version, "-to", r.document(p), binary)
		if p.name != cli {
			images[p.name] = append(images[p.name], binary)
		}
	}
	for name, binaries := range images {
		run(t, work, nil, filepath.Join(tools, "images"), "-repository", "example.org/refit", "-tag", r.version, "-to", "images", name+"="+strings.Join(binaries, ","))
		write(t, filepath.Join(dir, r.image(name)), read(t, filepath.Join(work, "images", name+".tar")))
	}
	sum(t, r)
	return dir
}

// build compiles the example for a platform.
func build(t *testing.T, source, to string, p product, flags ...string) {
	t.Helper()
	arguments := []string{"build", "-buildvcs=false", "-ldflags=-X main.name=" + p.name, "-o", to}
	var tags []string
	if p.name == cli {
		tags = append(tags, "web")
	}
	if (p.platform == platform{runtime.GOOS, runtime.GOARCH}) {
		tags = append(tags, "host")
	}
	if len(tags) > 0 {
		arguments = append(arguments, "-tags="+strings.Join(tags, ","))
	}
	run(t, source, []string{"GOOS=" + p.os, "GOARCH=" + p.arch, "CGO_ENABLED=0", "GOFLAGS=-mod=mod"}, "go", append(append(arguments, flags...), ".")...)
}

// pack returns an archive with a binary and other files.
func pack(t *testing.T, p product, binary []byte, others ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	if p.os == "windows" {
		w := zip.NewWriter(&out)
		for _, name := range append(others, p.name+".exe") {
			header := &zip.FileHeader{Name: name}
			header.SetMode(0o755)
			file, err := w.CreateHeader(header)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.Write(contentOf(name, binary)); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		return out.Bytes()
	}
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, name := range append(others, p.name) {
		content := contentOf(name, binary)
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	zipped.Close()
	return out.Bytes()
}

func contentOf(name string, binary []byte) []byte {
	if strings.HasPrefix(name, cli) {
		return binary
	}
	return []byte(name)
}

// sum writes what depends on the digests of the artifacts.
func sum(t *testing.T, r release) {
	t.Helper()
	var sums, platforms, addresses strings.Builder
	for _, name := range r.listed() {
		fmt.Fprintf(&sums, "%s  %s\n", digest(t, r, name), name)
	}
	for _, p := range r.platforms {
		archive, binary := r.archive(product{cli, p}), cli
		if p.os == "windows" {
			binary += ".exe"
		} else {
			fmt.Fprintf(&addresses, "    url %q\n    sha256 %q\n", r.download(archive), digest(t, r, archive))
		}
		fmt.Fprintf(&platforms, "  - bin: %s\n    uri: %s\n    sha256: %s\n    selector: {matchLabels: {os: %s, arch: %s}}\n",
			binary, r.download(archive), digest(t, r, archive), p.os, p.arch)
	}
	write(t, filepath.Join(r.dir, checksums), []byte(sums.String()))
	write(t, filepath.Join(r.dir, krewManifest), []byte("apiVersion: krew.googlecontainertools.github.com/v1alpha2\nkind: Plugin\nmetadata: {name: refit}\nspec:\n  version: "+
		r.version+"\n  platforms:\n"+platforms.String()))
	write(t, filepath.Join(r.dir, formula), []byte("class Refit < Formula\n"+addresses.String()+"end\n"))
}

func digest(t *testing.T, r release, name string) string {
	t.Helper()
	out, err := r.digest(name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func run(t *testing.T, dir string, environment []string, binary string, arguments ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, arguments...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", binary, strings.Join(arguments, " "), err, out)
	}
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, content, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
