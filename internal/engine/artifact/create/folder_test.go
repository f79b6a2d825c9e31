package create

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// arch is a platform that no machine of ours is, so that nothing of a test's folder is run.
const arch = "ppc64le"

// program writes the smallest program of that platform, with a text in it.
func program(t *testing.T, path, says string) {
	t.Helper()
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_PPC64), Version: 1, Ehsize: 64, Phentsize: 56, Shentsize: 64}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	var out bytes.Buffer
	if err := binary.Write(&out, binary.LittleEndian, h); err != nil {
		t.Fatal(err)
	}
	out.WriteString(says)
	write(t, path, out.Bytes())
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// configText is the configuration of an image.
func configText(name string) []byte {
	return []byte(`{"os":"linux","architecture":"` + arch + `","comment":"` + name + `"}`)
}

func tarOf(t *testing.T, entries map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for name, content := range entries {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// saved is an archive as docker save writes it.
func saved(t *testing.T, name string) []byte {
	t.Helper()
	return tarOf(t, map[string][]byte{
		"manifest.json": jsonOf(t, []map[string]any{{"Config": "c.json", "RepoTags": []string{name}}}),
		"c.json":        configText(name),
		"layer.tar":     make([]byte, 5000),
	})
}

// exported is an archive as ctr images export writes it: an index of an index, which names a platform that was not saved.
func exported(t *testing.T, name string) []byte {
	t.Helper()
	type d = map[string]any
	at := func(content []byte) string { return "blobs/sha256/" + strings.TrimPrefix(digestOf(content), "sha256:") }
	config := configText(name)
	manifest := jsonOf(t, d{"config": d{"digest": digestOf(config)}})
	index := jsonOf(t, d{"manifests": []d{
		{"digest": digestOf([]byte("not saved")), "platform": d{"os": "linux", "architecture": "s390x"}},
		{"digest": digestOf(manifest), "platform": d{"os": "linux", "architecture": arch}},
	}})
	return tarOf(t, map[string][]byte{
		"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`),
		"index.json": jsonOf(t, d{"manifests": []d{{"digest": digestOf(index), "annotations": d{"io.containerd.image.name": name}}}}),
		at(index):    index, at(manifest): manifest, at(config): config,
	})
}

// folder is what a user has: programs, images and things that do not matter.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"kubeadm", "kubelet", "kubectl"} {
		program(t, filepath.Join(dir, "bin", name), "this is v1.36.3 of it")
	}
	for _, image := range []string{
		"kube-apiserver:v1.36.3", "kube-controller-manager:v1.36.3", "kube-scheduler:v1.36.3", "etcd:3.6.8-0", "coredns/coredns:v1.14.2", "pause:3.10.2",
	} {
		write(t, filepath.Join(dir, "images", strings.ReplaceAll(image, "/", "-")+".tar"), saved(t, "registry.k8s.io/"+image))
	}
	write(t, filepath.Join(dir, "images/kube-proxy.tar"), exported(t, "registry.k8s.io/kube-proxy:v1.36.3"))
	write(t, filepath.Join(dir, "images/busybox.tar"), saved(t, "docker.io/library/busybox:1"))
	write(t, filepath.Join(dir, "images/etcd-old.tar"), saved(t, "registry.k8s.io/etcd:3.5.0-0"))
	write(t, filepath.Join(dir, "README"), []byte("hello"))
	write(t, filepath.Join(dir, "x.tgz"), []byte("\x1f\x8b..."))
	write(t, filepath.Join(dir, "x.rpm"), []byte("\xed\xab\xee\xdb..."))
	write(t, filepath.Join(dir, "rootfs.tar"), tarOf(t, map[string][]byte{"etc/passwd": []byte("x")}))
	program(t, filepath.Join(dir, "bin/bash"), "")
	return dir
}

func TestReleaseFromAFolder(t *testing.T) {
	result, err := Payload(t.Context(), Options{Kubernetes: "v1.36.3", Folders: []string{folder(t)}})
	if err != nil {
		t.Fatal(err)
	}
	p := result.Payload
	if p.Etcd != "3.6.8-0" || p.CoreDNS != "v1.14.2" || p.Pause != "3.10.2" || len(p.Files) != 3 || len(p.Images) != 7 {
		t.Errorf("%+v", p)
	}
	for _, file := range p.Files {
		if file.Path != "bin/"+file.Name || file.Version != "v1.36.3" || file.Arch != arch || file.Kind != refitv1alpha1.PackageBinary {
			t.Errorf("%+v", file)
		}
	}
	control := 0
	for _, image := range p.Images {
		if image.Config != digestOf(configText(image.Name)) || image.Archive == nil || !strings.HasPrefix(image.Archive.Path, "images/") {
			t.Errorf("%+v", image)
		}
		if image.ControlPlane {
			control++
		}
	}
	left := map[string]int{}
	for _, s := range result.Skipped {
		left[s.Why] = s.Count
	}
	if control != 4 || left[notKnown] != 3 || left[otherImage] != 1 || left[otherVersion] != 1 || left[compressed] != 1 || left[notYet] != 1 {
		t.Errorf("%d images are for control planes; left: %v", control, left)
	}
	if len(result.Warnings) != 3 || !strings.Contains(result.Warnings[0], "cannot be asked") {
		t.Errorf("what could not be asked is not told: %q", result.Warnings)
	}
}

func TestFolderThatIsALink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "srv")
	if err := os.Symlink(folder(t), link); err != nil {
		t.Fatal(err)
	}
	result, err := Payload(t.Context(), Options{Kubernetes: "v1.36.3", Folders: []string{link}})
	if err != nil || len(result.Payload.Files) != 3 {
		t.Errorf("%v, %v", result, err)
	}
}

func TestFoldersThatMakeNoRelease(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(t *testing.T, dir string, o *Options)
		says    string
	}{
		"no version": {func(t *testing.T, _ string, o *Options) { t.Helper(); o.Kubernetes = "latest" }, "no version like"},
		"no folder":  {func(t *testing.T, _ string, o *Options) { t.Helper(); o.Folders = nil }, "neither a folder"},
		"not there":  {func(t *testing.T, _ string, o *Options) { t.Helper(); o.Folders = []string{"/does/not/exist"} }, "no such file"},
		"another version": {
			func(t *testing.T, _ string, o *Options) { t.Helper(); o.Kubernetes = "v1.36.2" },
			"no kubeadm and no kubelet of v1.36.2",
		},
		"cannot be left out": {func(t *testing.T, _ string, o *Options) { t.Helper(); o.Without = []string{"kubelet"} }, "cannot be left out"},
		"no kubelet": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			remove(t, dir+"/bin/kubelet")
		}, "no kubeadm and no kubelet"},
		"no kubeadm": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			remove(t, dir+"/bin/kubeadm")
		}, "lacks kubeadm for ppc64le (Binary)"},
		"no image of the API server": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			remove(t, dir+"/images/kube-apiserver:v1.36.3.tar")
		}, "the image kube-apiserver:v1.36.3 for ppc64le"},
		"no etcd": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			remove(t, dir+"/images/etcd:3.6.8-0.tar")
		}, "the image etcd:3.6.8-0 for ppc64le"},
		"no etcd, as asked": {func(t *testing.T, dir string, o *Options) {
			t.Helper()
			remove(t, dir+"/images/etcd:3.6.8-0.tar")
			o.Without = []string{"etcd"}
		}, ""},
		"another etcd": {func(t *testing.T, _ string, o *Options) { t.Helper(); o.Etcd = "3.5.0-0" }, ""},
		"two that differ": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			program(t, dir+"/other/kubelet", "this is v1.36.3, but not the same")
		}, "kubelet is there twice and differs"},
		"two that are the same": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			program(t, dir+"/other/kubelet", "this is v1.36.3 of it")
		}, ""},
		"two images that differ": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			write(t, dir+"/other.tar", tarOf(t, map[string][]byte{
				"manifest.json": []byte(`[{"Config":"c","RepoTags":["registry.k8s.io/pause:3.10.2"]}]`), "c": []byte(`{"os":"linux","architecture":"ppc64le"}`),
			}))
		}, "pause:3.10.2 is there twice and differs"},
		"a part that does not tell its version": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			program(t, dir+"/bin/runc", "?")
		}, "give it with --runc, or leave it out with --without runc"},
		"a part whose version is given": {func(t *testing.T, dir string, o *Options) {
			t.Helper()
			program(t, dir+"/bin/runc.ppc64le", "?")
			o.Runc = "1.4.0"
		}, ""},
		"a part that is left out": {func(t *testing.T, dir string, o *Options) {
			t.Helper()
			program(t, dir+"/bin/runc", "?")
			o.Without = []string{"runc"}
		}, ""},
		"a part that is not there": {func(t *testing.T, _ string, o *Options) { t.Helper(); o.Containerd = "2.4.2" }, "no containerd 2.4.2 in the folders"},
		"containerd without its shim": {func(t *testing.T, dir string, o *Options) {
			t.Helper()
			program(t, dir+"/bin/containerd", "?")
			o.Containerd = "2.4.2"
		}, "lacks containerd-shim-runc-v2"},
		"a name that no path should have": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			if err := os.Rename(dir+"/bin", dir+"/bin dir"); err != nil {
				t.Fatal(err)
			}
		}, "path"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			o := Options{Kubernetes: "v1.36.3", Folders: []string{dir}}
			c.arrange(t, dir, &o)
			_, err := Payload(t.Context(), o)
			if (err == nil) != (c.says == "") || (err != nil && !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%v, want %q in it", err, c.says)
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// Archives come from others: one that is broken is told of, and is no reason to end.
func TestArchivesThatAreBroken(t *testing.T) {
	good := saved(t, "registry.k8s.io/x/y:1")
	for name, content := range map[string][]byte{
		"cut off":                good[:700],
		"no configuration":       tarOf(t, map[string][]byte{"manifest.json": []byte(`[{"Config":"gone","RepoTags":["a/b:c"]}]`)}),
		"out of its folder":      tarOf(t, map[string][]byte{"manifest.json": []byte(`[{"Config":"../../../../etc/passwd","RepoTags":["a/b:c"]}]`)}),
		"no JSON":                tarOf(t, map[string][]byte{"manifest.json": []byte(`hello`)}),
		"index without end":      tarOf(t, map[string][]byte{"index.json": []byte(`{"manifests":[{"digest":"sha256:../../index.json","annotations":{"io.containerd.image.name":"a/b:c"}}]}`)}),
		"configuration, no JSON": tarOf(t, map[string][]byte{"manifest.json": []byte(`[{"Config":"c","RepoTags":["a/b:c"]}]`), "c": []byte("x")}),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.tar")
			write(t, path, content)
			if images, err := readArchive(path); len(images) > 0 {
				t.Errorf("%v %v", images, err)
			}
		})
	}
}
