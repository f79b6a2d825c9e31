package create

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// arch is an architecture that no development machine has, so that the tests run no binary of a
// folder.
const arch = "ppc64le"

// program writes an ELF file without code that contains a text.
func program(t *testing.T, path, text string) {
	t.Helper()
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_PPC64), Version: 1, Ehsize: 64, Phentsize: 56, Shentsize: 64}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	var out bytes.Buffer
	if err := binary.Write(&out, binary.LittleEndian, h); err != nil {
		t.Fatal(err)
	}
	out.WriteString(text)
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

// saved is an archive in the format of docker save.
func saved(t *testing.T, name string) []byte {
	t.Helper()
	return tarOf(t, map[string][]byte{
		"manifest.json": jsonOf(t, []map[string]any{{"Config": "c.json", "RepoTags": []string{name}}}),
		"c.json":        configText(name),
		"layer.tar":     make([]byte, 5000),
	})
}

// exported is an archive in the format of ctr images export: an index of an index that lists a
// platform that is not in the archive.
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

// folder is a folder with binaries, images and irrelevant files.
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
	skipped := map[string]int{}
	for _, s := range result.Skipped {
		skipped[s.Why] = s.Count
	}
	if control != 4 || skipped[notPart] != 3 || skipped[otherImage] != 1 || skipped[otherVersion] != 1 || skipped[compressed] != 1 {
		t.Errorf("%d images are for control planes; skipped: %v", control, skipped)
	}
	if len(result.Warnings) != 3 || !strings.Contains(result.Warnings[0], "cannot check the version") {
		t.Errorf("there is no warning about unchecked versions: %q", result.Warnings)
	}
}

func TestReleaseWithRpmPackages(t *testing.T) {
	if _, err := exec.LookPath("rpmbuild"); err != nil {
		t.Skip("rpmbuild is not installed")
	}
	dir := folder(t)
	rpmOf := func(name, version string) {
		top := t.TempDir()
		spec := filepath.Join(top, name+".spec")
		write(t, spec, []byte("Name: "+name+"\nVersion: "+version+"\nRelease: 150500.1.1\nSummary: x\nLicense: x\n%description\nx\n%files\n"))
		cmd := exec.CommandContext(t.Context(), "rpmbuild", "-bb", "--target", arch+"-linux",
			"--define", "_topdir "+top, "--define", "_rpmdir "+filepath.Join(dir, "rpms"), spec)
		cmd.Env = append(os.Environ(), "HOME="+top)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, name := range []string{"kubeadm", "kubelet", "kubectl", "bash"} {
		rpmOf(name, "1.36.3")
	}
	rpmOf("kubelet", "1.35.4")
	options := Options{Kubernetes: "v1.36.3", Folders: []string{dir}}
	result, err := Payload(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range result.Payload.Files {
		if f.Kind == refitv1alpha1.PackageRpm {
			got = append(got, f.Name+" "+f.Version+" "+f.Arch)
		}
	}
	if want := "kubeadm 1.36.3-150500.1.1 ppc64le, kubectl 1.36.3-150500.1.1 ppc64le, kubelet 1.36.3-150500.1.1 ppc64le"; strings.Join(got, ", ") != want {
		t.Errorf("packages: %v", got)
	}
	if err := os.Remove(filepath.Join(dir, "rpms/ppc64le/kubeadm-1.36.3-150500.1.1.ppc64le.rpm")); err != nil {
		t.Fatal(err)
	}
	if _, err := Payload(t.Context(), options); err == nil || !strings.Contains(err.Error(), "kubeadm for ppc64le (Rpm)") {
		t.Errorf("a set of rpm packages without kubeadm: %v", err)
	}
}

func TestFolderMayBeASymlink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "srv")
	if err := os.Symlink(folder(t), link); err != nil {
		t.Fatal(err)
	}
	result, err := Payload(t.Context(), Options{Kubernetes: "v1.36.3", Folders: []string{link}})
	if err != nil || len(result.Payload.Files) != 3 {
		t.Errorf("%v, %v", result, err)
	}
}

func TestInsufficientFoldersMakeNoRelease(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(t *testing.T, dir string, o *Options)
		want    string
	}{
		"no version":     {func(t *testing.T, _ string, o *Options) { t.Helper(); o.Kubernetes = "latest" }, "not a version like"},
		"no folder":      {func(t *testing.T, _ string, o *Options) { t.Helper(); o.Folders = nil }, "neither a directory"},
		"missing folder": {func(t *testing.T, _ string, o *Options) { t.Helper(); o.Folders = []string{"/does/not/exist"} }, "no such file"},
		"another version": {
			func(t *testing.T, _ string, o *Options) { t.Helper(); o.Kubernetes = "v1.36.2" },
			"no kubeadm and no kubelet of v1.36.2 found",
		},
		"required part excluded": {func(t *testing.T, _ string, o *Options) { t.Helper(); o.Without = []string{"kubelet"} }, "cannot be excluded"},
		"no kubelet": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			remove(t, dir+"/bin/kubelet")
		}, "no kubelet of v1.36.3 found"},
		"not a directory": {func(t *testing.T, dir string, o *Options) {
			t.Helper()
			o.Folders = []string{dir + "/README"}
		}, "README is not a directory"},
		"no kubeadm": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			remove(t, dir+"/bin/kubeadm")
		}, "missing: kubeadm for ppc64le (Binary)"},
		"no image of the API server": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			remove(t, dir+"/images/kube-apiserver:v1.36.3.tar")
		}, "image kube-apiserver:v1.36.3 for ppc64le"},
		"no etcd": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			remove(t, dir+"/images/etcd:3.6.8-0.tar")
		}, "image etcd:3.6.8-0 for ppc64le"},
		"etcd excluded": {func(t *testing.T, dir string, o *Options) {
			t.Helper()
			remove(t, dir+"/images/etcd:3.6.8-0.tar")
			o.Without = []string{"etcd"}
		}, ""},
		"etcd excluded and selected": {func(t *testing.T, _ string, o *Options) {
			t.Helper()
			o.Without, o.Etcd = []string{"etcd"}, "3.6.8-0"
		}, "etcd is both excluded and selected (3.6.8-0)"},
		"another etcd": {func(t *testing.T, _ string, o *Options) { t.Helper(); o.Etcd = "3.5.0-0" }, ""},
		"two different files": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			program(t, dir+"/other/kubelet", "this is v1.36.3, but not the same")
		}, "two different files of kubelet"},
		"two equal files": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			program(t, dir+"/other/kubelet", "this is v1.36.3 of it")
		}, ""},
		"two different images": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			write(t, dir+"/other.tar", tarOf(t, map[string][]byte{
				"manifest.json": []byte(`[{"Config":"c","RepoTags":["registry.k8s.io/pause:3.10.2"]}]`), "c": []byte(`{"os":"linux","architecture":"ppc64le"}`),
			}))
		}, "two different images registry.k8s.io/pause:3.10.2"},
		"a part of unknown version": {func(t *testing.T, dir string, _ *Options) {
			t.Helper()
			program(t, dir+"/bin/runc", "?")
		}, "set it with --runc, or exclude it with --without runc"},
		"a part whose version is set": {func(t *testing.T, dir string, o *Options) {
			t.Helper()
			program(t, dir+"/bin/runc.ppc64le", "?")
			o.Runc = "1.4.0"
		}, ""},
		"a part that is excluded": {func(t *testing.T, dir string, o *Options) {
			t.Helper()
			program(t, dir+"/bin/runc", "?")
			o.Without = []string{"runc"}
		}, ""},
		"a part that is missing": {func(t *testing.T, _ string, o *Options) { t.Helper(); o.Containerd = "2.4.2" }, "no containerd 2.4.2 found in the directories"},
		"containerd without its shim": {func(t *testing.T, dir string, o *Options) {
			t.Helper()
			program(t, dir+"/bin/containerd", "?")
			o.Containerd = "2.4.2"
		}, "missing: containerd-shim-runc-v2"},
		"an invalid path": {func(t *testing.T, dir string, _ *Options) {
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
			if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

func TestKubeadmThatWasFoundIsNotReportedMissing(t *testing.T) {
	dir := folder(t)
	remove(t, dir+"/bin/kubelet")
	_, err := Payload(t.Context(), Options{Kubernetes: "v1.36.3", Folders: []string{dir}})
	if err == nil || err.Error() != "no kubelet of v1.36.3 found" {
		t.Errorf("got %v", err)
	}
}

// The skipped files explain why the content is not sufficient.
func TestSkippedFilesOfAnInsufficientFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "README"), []byte("hello"))
	if err := os.Symlink("/usr/bin/kubelet", filepath.Join(dir, "kubelet")); err != nil {
		t.Fatal(err)
	}
	result, err := Payload(t.Context(), Options{Kubernetes: "v1.36.3", Folders: []string{dir}})
	want := []Skipped{{Why: notPart, Count: 1, First: "README"}, {Why: symlink, Count: 1, First: "kubelet"}}
	if err == nil || !slices.Equal(result.Skipped, want) {
		t.Errorf("%v, skipped %+v", err, result.Skipped)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedArchivesHaveNoImages(t *testing.T) {
	good := saved(t, "registry.k8s.io/x/y:1")
	for name, content := range map[string][]byte{
		"truncated":                   good[:700],
		"no configuration":            tarOf(t, map[string][]byte{"manifest.json": []byte(`[{"Config":"gone","RepoTags":["a/b:c"]}]`)}),
		"out of its folder":           tarOf(t, map[string][]byte{"manifest.json": []byte(`[{"Config":"../../../../etc/passwd","RepoTags":["a/b:c"]}]`)}),
		"not JSON":                    tarOf(t, map[string][]byte{"manifest.json": []byte(`hello`)}),
		"index that refers to itself": tarOf(t, map[string][]byte{"index.json": []byte(`{"manifests":[{"digest":"sha256:../../index.json","annotations":{"io.containerd.image.name":"a/b:c"}}]}`)}),
		"configuration is not JSON":   tarOf(t, map[string][]byte{"manifest.json": []byte(`[{"Config":"c","RepoTags":["a/b:c"]}]`), "c": []byte("x")}),
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
