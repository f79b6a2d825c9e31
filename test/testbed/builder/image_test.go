package builder

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/refit-dev/refit/test/testbed/versions"
)

func TestImageRoundTrip(t *testing.T) {
	bin := t.TempDir()
	for _, binary := range []string{"etcd", "etcdctl"} {
		if err := os.WriteFile(filepath.Join(bin, binary), []byte("binary "+binary), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	img := binaryImage("registry.k8s.io/etcd:3.6.8-0", bin, "etcd", "etcdctl")
	img.files = append(img.files, layerFile{path: "/bin/sh", link: "busybox"})
	config, files := readBack(t, img)

	if got := config.Config.Entrypoint; len(got) != 1 || got[0] != "/usr/local/bin/etcd" {
		t.Errorf("entrypoint %v", got)
	}
	if got := config.Config.Env; len(got) != 1 || got[0] != imagePath {
		t.Errorf("environment %v", got)
	}
	want := map[string]struct {
		mode    int64
		content string
		link    string
	}{
		"usr/local/bin/etcd":    {mode: 0o755, content: "binary etcd"},
		"usr/local/bin/etcdctl": {mode: 0o755, content: "binary etcdctl"},
		"bin/sh":                {mode: 0o777, link: "busybox"},
		"etc/nsswitch.conf":     {mode: 0o644, content: "hosts: files dns\n"},
		"tmp/":                  {mode: 0o1777},
		"usr/":                  {mode: 0o755},
		"usr/local/bin/":        {mode: 0o755},
	}
	for path, w := range want {
		got, there := files[path]
		if !there {
			t.Errorf("%s is not in the image", path)
			continue
		}
		if got.Mode != w.mode || got.content != w.content || got.Linkname != w.link || got.Uid != 0 {
			t.Errorf("%s: mode %o, content %q, link %q, owner %d", path, got.Mode, got.content, got.Linkname, got.Uid)
		}
	}
}

func TestCoreDNSCanBindItsPort(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "coredns")
	if err := os.WriteFile(binary, []byte("coredns"), 0o755); err != nil {
		t.Fatal(err)
	}
	config, files := readBack(t, corednsImage(versions.Release{CoreDNS: "v1.14.2"}, binary))
	if config.Config.User != "65532:65532" {
		t.Errorf("user %q", config.Config.User)
	}
	if got := files["coredns"].PAXRecords["SCHILY.xattr.security.capability"]; got != netBindService {
		t.Errorf("capability %q", got)
	}
}

func TestImageIsReproducible(t *testing.T) {
	dir := t.TempDir()
	img := image{name: "localhost/x:1", files: []layerFile{
		{path: "/b", mode: 0o644, content: []byte("b")},
		{path: "/a/a", mode: 0o644, content: []byte("a")},
	}}
	var written [2]string
	for i := range written {
		path := filepath.Join(dir, "x.tar")
		if err := img.write(path); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		written[i] = string(content)
		img.files[0], img.files[1] = img.files[1], img.files[0]
	}
	if written[0] != written[1] {
		t.Error("the order of the files changes the image")
	}
}

type readFile struct {
	*tar.Header
	content string
}

// readBack writes an image and reads it by name.
func readBack(t *testing.T, img image) (*v1.ConfigFile, map[string]readFile) {
	t.Helper()
	path := filepath.Join(t.TempDir(), archiveName(img.name))
	if err := img.write(path); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(img.name)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tarball.ImageFromPath(path, &tag)
	if err != nil {
		t.Fatal(err)
	}
	config, err := got.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	layers, err := got.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("layers: %v, %v", layers, err)
	}
	stream, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	files := map[string]readFile{}
	for reader := tar.NewReader(stream); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return config, files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = readFile{header, string(content)}
	}
}
