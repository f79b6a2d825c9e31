package steps

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// binary returns a real executable of this platform, which plays a CNI plugin: those may lack a
// version.
func binary(t *testing.T) []byte {
	t.Helper()
	path, err := exec.LookPath("true")
	must(t, err)
	text, err := os.ReadFile(path)
	must(t, err)
	return text
}

func blobOf(text []byte, path string) refitv1alpha1.Blob {
	sum := sha256.Sum256(text)
	return refitv1alpha1.Blob{Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(text)), Path: path}
}

// fetchingHost returns a worker that installs one CNI plugin, a directory that has it, and the file
// of the ClusterRelease.
func fetchingHost(t *testing.T) (h *Host, source string, plugin refitv1alpha1.ReleaseFile) {
	t.Helper()
	h, source = testHost(t), t.TempDir()
	text := binary(t)
	put(t, filepath.Join(source, "bridge"), string(text))
	plugin = refitv1alpha1.ReleaseFile{
		Part: refitv1alpha1.PartCNI, Name: "bridge", Kind: refitv1alpha1.PackageBinary, OS: "linux", Arch: runtime.GOARCH, Version: "1.9.1",
		Blob: blobOf(text, "bridge"),
	}
	store, err := artifact.OpenStore(filepath.Join(t.TempDir(), "store"))
	must(t, err)
	h.Store, h.ReportWait = store, func(string) {}
	h.Settings.Sources = []string{source}
	h.Upgrade.Parts = []refitv1alpha1.Part{refitv1alpha1.PartCNI}
	h.Upgrade.Kinds = map[refitv1alpha1.Part]refitv1alpha1.PackageKind{refitv1alpha1.PartCNI: refitv1alpha1.PackageBinary}
	h.Release.Payload = refitv1alpha1.ReleasePayload{Kubernetes: "v1.36.3", Files: []refitv1alpha1.ReleaseFile{plugin}}
	return h, source, plugin
}

func TestFetchStoresTheFilesOfThisHost(t *testing.T) {
	h, source, plugin := fetchingHost(t)
	other := plugin
	other.Arch, other.Blob = "s390x", blobOf([]byte("another platform"), "elsewhere")
	h.Release.Payload.Files = append(h.Release.Payload.Files, other)
	put(t, filepath.Join(source, "pause.tar"), "pause")
	put(t, filepath.Join(source, "etcd.tar"), "etcd")
	pause, etcd := blobOf([]byte("pause"), "pause.tar"), blobOf([]byte("etcd"), "etcd.tar")
	h.Release.Payload.Images = []refitv1alpha1.ReleaseImage{
		{Name: "pause", OS: "linux", Arch: runtime.GOARCH, Archive: &pause},
		{Name: "etcd", OS: "linux", Arch: runtime.GOARCH, Archive: &etcd, ControlPlane: true},
		{Name: "pulled", OS: "linux", Arch: runtime.GOARCH},
	}
	must(t, fetch(t.Context(), h))
	if !h.Store.Has(plugin.Blob) || !h.Store.Has(pause) {
		t.Error("a file that this host needs is not in the store")
	}
	if h.Store.Has(etcd) {
		t.Error("a worker fetched an image of the control plane")
	}
	blobs, err := h.Blobs()
	if err != nil || len(blobs) != 2 {
		t.Errorf("Blobs() = %v, %v, want the plugin and the archive", blobs, err)
	}
	must(t, os.RemoveAll(source))
	must(t, fetch(t.Context(), h)) // again, without its source
}

func TestFetchRefusesWhatTheReleaseDoesNotDescribe(t *testing.T) {
	for situation, c := range map[string]struct {
		change func(t *testing.T, h *Host, source string)
		reason string
	}{
		"another content": {func(t *testing.T, _ *Host, source string) {
			t.Helper()
			put(t, filepath.Join(source, "bridge"), "something else")
		}, "ArtifactWrong"},
		"no such file": {func(t *testing.T, _ *Host, source string) {
			t.Helper()
			must(t, os.Remove(filepath.Join(source, "bridge")))
		}, "ArtifactNotFound"},
		"a script instead of a binary": {func(t *testing.T, h *Host, source string) {
			t.Helper()
			put(t, filepath.Join(source, "bridge"), "#!/bin/sh\n")
			h.Release.Payload.Files[0].Blob = blobOf([]byte("#!/bin/sh\n"), "bridge")
		}, "WrongPlatform"},
		"nothing for this platform": {func(_ *testing.T, h *Host, _ string) { h.Release.Payload.Files[0].Arch = "s390x" }, "NotInRelease"},
	} {
		t.Run(situation, func(t *testing.T) {
			h, source, _ := fetchingHost(t)
			c.change(t, h, source)
			err := fetch(t.Context(), h)
			if f := node.FailureOf(err); err == nil || f.Reason != c.reason || f.Remedy == "" {
				t.Errorf("fetch() = %v (%+v), want the reason %s", err, f, c.reason)
			}
		})
	}
}

// archiveWith returns a gzip archive of CNI plugins, in the layout of upstream.
func archiveWith(t *testing.T, names []string, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	must(t, w.WriteHeader(&tar.Header{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755}))
	for _, name := range names {
		must(t, w.WriteHeader(&tar.Header{Name: "./" + name, Mode: 0o755, Size: int64(len(content))}))
		_, err := w.Write(content)
		must(t, err)
	}
	must(t, w.Close())
	must(t, zipped.Close())
	return out.Bytes()
}

func TestFetchExtractsFromAnArchive(t *testing.T) {
	h, source, plugin := fetchingHost(t)
	text := binary(t)
	archive := archiveWith(t, []string{"bridge", "loopback", "portmap"}, text)
	put(t, filepath.Join(source, "cni-plugins.tgz"), string(archive))
	must(t, os.Remove(filepath.Join(source, "bridge")))
	plugin.Blob = blobOf(text, "")
	h.Release.Payload.Files = nil
	for _, name := range []string{"bridge", "loopback"} {
		plugin.Name, plugin.Archive = name, &refitv1alpha1.ReleaseArchive{Member: name, Blob: blobOf(archive, "cni-plugins.tgz")}
		h.Release.Payload.Files = append(h.Release.Payload.Files, plugin)
	}
	h.Upgrade.PartFiles = map[refitv1alpha1.Part][]string{refitv1alpha1.PartCNI: {"bridge"}}
	must(t, fetch(t.Context(), h))
	blobs, err := h.Blobs()
	if err != nil || len(blobs) != 1 || blobs[0].Digest != plugin.Digest || !h.Store.Has(blobs[0]) {
		t.Errorf("Blobs() = %v, %v, want the extracted plugin", blobs, err)
	}
	from, err := h.stored(t.Context(), plugin.Digest) // what stage copies
	must(t, err)
	if got, err := os.ReadFile(from); err != nil || !bytes.Equal(got, text) {
		t.Errorf("the stored plugin is another one: %v", err)
	}
	must(t, os.RemoveAll(source))
	must(t, fetch(t.Context(), h)) // again, without its source
}

func TestFetchRefusesAnArchiveWithAnotherFile(t *testing.T) {
	h, source, plugin := fetchingHost(t)
	archive := archiveWith(t, []string{"bridge"}, []byte("#!/bin/sh\n"))
	put(t, filepath.Join(source, "cni-plugins.tgz"), string(archive))
	plugin.Path, plugin.Archive = "", &refitv1alpha1.ReleaseArchive{Member: "bridge", Blob: blobOf(archive, "cni-plugins.tgz")}
	h.Release.Payload.Files = []refitv1alpha1.ReleaseFile{plugin}
	if err := fetch(t.Context(), h); node.FailureOf(err).Reason != "ArchiveInvalid" || h.Store.Has(plugin.Blob) {
		t.Errorf("fetch() = %v", err)
	}
}

// A host that runs the version fetches images of components that its runtime does not have, and
// keeps its own images of Kubernetes.
func TestFetchOfImagesOnly(t *testing.T) {
	h, source, plugin := fetchingHost(t)
	h.Upgrade.ImagesOnly, h.Upgrade.Parts, h.Upgrade.Kinds = true, nil, nil
	const mesh, queue, proxy = "example.com/mesh:v2.1.0", "example.com/queue:0.15.0", proxyImage
	archives := map[string]refitv1alpha1.Blob{}
	for _, name := range []string{mesh, queue, proxy} {
		file := filepath.Base(name) + ".tar"
		put(t, filepath.Join(source, file), name)
		archive := blobOf([]byte(name), file)
		archives[name] = archive
		h.Release.Payload.Images = append(h.Release.Payload.Images, refitv1alpha1.ReleaseImage{
			Name: name, OS: "linux", Arch: runtime.GOARCH, Config: "sha256:right", Archive: &archive,
		})
	}
	r := runtimeFor(t, h, nil)
	r.images[queue], r.images[proxy] = "sha256:right", "sha256:ours"
	must(t, fetch(t.Context(), h))
	for name, want := range map[string]bool{mesh: true, queue: false, proxy: false} {
		if h.Store.Has(archives[name]) != want {
			t.Errorf("the archive of %s is in the store: %t", name, !want)
		}
	}
	if h.Store.Has(plugin.Blob) {
		t.Error("a file is fetched")
	}
	if done, err := imagesPresent(t.Context(), h); done || err != nil {
		t.Errorf("the probe before the import: %t, %v", done, err)
	}
	r.images[mesh] = "sha256:right"
	must(t, importImages(t.Context(), h))
	if done, err := imagesPresent(t.Context(), h); !done || err != nil || r.images[proxy] != "sha256:ours" {
		t.Errorf("the probe after the import: %t, %v", done, err)
	}
}
